#include "census/census.h"

namespace memoir {

Glance glance_of(std::int32_t pid, std::uint64_t start_ticks, const ProcessMemory& memory) {
  return {pid, start_ticks, memory.or_zero(ProcessField::vm_rss), memory.or_zero(ProcessField::rss_anon),
          memory.get(ProcessField::vm_hwm)};
}

std::optional<Glance> glance_of(const CensusProcess& process) {
  if (!process.memory.has(ProcessField::vm_rss)) return std::nullopt;
  return glance_of(process.pid, process.start_ticks, process.memory);
}

Status Census::glance(std::vector<Glance>& glances) {
  TRY(look(looked_));
  glances.clear();
  for (const CensusProcess& process : looked_) {
    if (const auto glance = glance_of(process)) glances.push_back(*glance);
  }
  return Done{};
}

}  // namespace memoir
