#include "collect/process/seeds.h"

namespace memoir {

void Seeds::add(const std::vector<KnownProcess>& known) {
  for (const KnownProcess& process : known) {
    KnownProcess& last = seeds_[{process.key.pid, process.key.start_ticks}];
    if (last.key.pid == 0 || last.key.exec_count <= process.key.exec_count) last = process;
  }
}

std::uint32_t Seeds::exec_count(const ProcessInfo& info) const {
  const auto seed = seeds_.find({info.key.pid, info.key.start_ticks});
  if (seed == seeds_.end()) return 0;
  const KnownProcess& known = seed->second;
  const bool same = known.comm == info.comm && known.exe == info.exe;
  return known.key.exec_count + (same ? 0 : 1);
}

}  // namespace memoir
