#include "census/census.h"

namespace memoir {

std::optional<Glance> glance_of(const CensusProcess& process) {
  const ProcessMemory& memory = process.memory;
  if (!memory.has(ProcessField::vm_rss)) return std::nullopt;
  return Glance{process.pid, process.start_ticks, memory.or_zero(ProcessField::vm_rss),
                memory.or_zero(ProcessField::rss_anon), memory.get(ProcessField::vm_hwm)};
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
