#include "census/census.h"

namespace memoir {

BriefSample brief_sample_of(std::int32_t pid, std::uint64_t start_ticks, const ProcessMemory& memory) {
  return {pid, start_ticks, memory.or_zero(ProcessField::vm_rss), memory.or_zero(ProcessField::rss_anon),
          memory.get(ProcessField::vm_hwm)};
}

std::optional<BriefSample> brief_sample_of(const CensusProcess& process) {
  if (!process.memory.has(ProcessField::vm_rss)) return std::nullopt;
  return brief_sample_of(process.pid, process.start_ticks, process.memory);
}

Status Census::read_brief(std::vector<BriefSample>& samples) {
  std::vector<CensusProcess> processes;
  TRY(read(processes));
  samples.clear();
  for (const CensusProcess& process : processes) {
    if (const auto brief_sample = brief_sample_of(process)) samples.push_back(*brief_sample);
  }
  return Done{};
}

}  // namespace memoir
