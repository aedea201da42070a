#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "model/container.h"
#include "query/incidents/incidents.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

constexpr std::array<std::string_view, 8> kIncidentKinds{"oom-kill",   "killer", "pressure",  "swap-full",
                                                         "tmpfs-full", "limit",  "throttled", "growth"};

// " when app.service reached its 8.0 GiB limit"
std::string kill_reason(const OomVictim& victim, const ContainerNames& containers, Units units) {
  if (!victim.detail) return victim.cgroup.empty() ? "" : " in " + place_name(victim.cgroup, containers);
  const OomDetail& detail = *victim.detail;
  if (detail.scope == OomScope::machine) return " because the machine ran out of memory";
  if (detail.scope == OomScope::nodes) return " because its NUMA nodes ran out of memory";
  if (detail.limit_cgroup.empty()) return " when a cgroup reached its limit";
  const std::string limit = detail.limit_kib ? format_size(*detail.limit_kib, units) + " " : "";
  return fmt::format(" when {} reached its {}limit", place_name(detail.limit_cgroup, containers), limit);
}

}  // namespace

std::string_view to_string(IncidentKind kind) {
  return kIncidentKinds.at(static_cast<std::size_t>(kind));
}

const std::vector<std::string>& incident_kinds() {
  static const std::vector<std::string> kinds(kIncidentKinds.begin(), kIncidentKinds.end());
  return kinds;
}

std::string command_of(const IncidentEntry& entry) {
  return fmt::format("memoir incident --at @{}", entry.at_ms);
}

std::string place_name(const std::string& cgroup, const ContainerNames& containers) {
  if (const std::string label = container_of(cgroup); !label.empty()) {
    const auto name = containers.find(label);
    return to_printable(name == containers.end() ? "the container " + label
                                                 : fmt::format("the container {} ({})", name->second, label));
  }
  const std::size_t slash = cgroup.find_last_not_of('/');
  if (slash == std::string::npos) return "the root cgroup";
  const std::string trimmed = cgroup.substr(0, slash + 1);
  return to_printable(trimmed.substr(trimmed.rfind('/') + 1));
}

std::string victim_name(const OomVictim& victim) {
  return fmt::format("{} ({})", victim.comm.empty() ? "a process" : to_printable(victim.comm), victim.pid);
}

std::string kill_sentence(const OomVictim& victim, const ContainerNames& containers, Units units) {
  const std::string what = victim_name(victim) + kill_reason(victim, containers, units);
  if (!victim.killer) return "The OOM killer killed " + what;
  const std::string killer = fmt::format("{} ({})", to_printable(victim.killer->comm), victim.killer->pid);
  const std::string signal = signal_name(victim.killer->signal);
  return victim.killed() ? fmt::format("{} killed {} with {}", killer, what, signal)
                         : fmt::format("{} sent {} to {}", killer, signal, what);
}

}  // namespace memoir::query
