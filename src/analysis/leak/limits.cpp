#include "analysis/leak/limits.h"

#include <algorithm>
#include <string_view>

#include "model/cgroup_level.h"

namespace memoir {

namespace {

// Error of the headroom, as a share of the used memory. A cgroup's usage includes kernel memory that is reclaimed
// before the limit is enforced, and its counters are batched. The kernel's estimate of the machine's available memory
// is more accurate.
constexpr double kCgroupError = 0.03;
constexpr double kMachineError = 0.01;

bool holds(std::string_view cgroup, std::string_view path) {
  if (cgroup == "/" || path == cgroup) return true;
  return path.starts_with(cgroup) && path[cgroup.size()] == '/';
}

std::int64_t swap_room(const CgroupSample& cgroup, std::int64_t free_swap_kib) {
  if (!cgroup.swap_max_kib) return free_swap_kib;
  return std::max<std::int64_t>(std::min(*cgroup.swap_max_kib - cgroup.swap_kib.value_or(0), free_swap_kib), 0);
}

}  // namespace

std::vector<LeakLimit> machine_limits(const MachineMemory& memory) {
  const auto available = memory.get(MachineField::mem_available);
  if (!available) return {};
  const std::int64_t held = std::max<std::int64_t>(memory.or_zero(MachineField::mem_total) - *available, 0);
  return {{"the machine's memory", static_cast<double>(*available + memory.or_zero(MachineField::swap_free)),
           kMachineError * static_cast<double>(held)}};
}

std::vector<LeakLimit> cgroup_limits(const std::vector<CgroupSample>& cgroups, const std::vector<std::string>& paths,
                                     const MachineMemory& memory) {
  std::vector<LeakLimit> limits;
  if (paths.empty()) return limits;
  for (const CgroupSample& cgroup : cgroups) {
    if (!std::ranges::all_of(paths, [&](const std::string& path) { return holds(cgroup.path, path); })) continue;
    const auto add = [&](const char* file, const std::optional<std::int64_t>& limit_kib) {
      if (!limit_kib) return;
      const std::int64_t held = without_cache_kib(cgroup);
      const double room = static_cast<double>(*limit_kib) - static_cast<double>(held) +
                          static_cast<double>(swap_room(cgroup, memory.or_zero(MachineField::swap_free)));
      limits.push_back({std::string(file).append(" of ").append(cgroup.path), std::max(room, 0.0),
                        kCgroupError * static_cast<double>(held)});
    };
    add("memory.max", cgroup.max_kib);
    add("memory.high", cgroup.high_kib);
  }
  return limits;
}

}  // namespace memoir
