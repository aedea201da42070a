#include "model/kill_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/container.h"

namespace memoir {
namespace {

// " when app.service reached its 8.0 GiB limit"
std::string kill_reason(const OomVictim& victim, const KillWords& words) {
  if (!victim.detail) return victim.cgroup.empty() ? "" : " in " + words.place(victim.cgroup);
  const OomDetail& detail = *victim.detail;
  if (detail.scope == OomScope::machine) return " because the machine ran out of memory";
  if (detail.scope == OomScope::nodes) return " because its NUMA nodes ran out of memory";
  if (detail.limit_cgroup.empty()) return " when a cgroup reached its limit";
  const std::string limit = detail.limit_kib ? words.size(*detail.limit_kib) + " " : "";
  return fmt::format(" when {} reached its {}limit", words.place(detail.limit_cgroup), limit);
}

}  // namespace

std::string cgroup_title(std::string_view path) {
  if (const std::string label = container_of(path); !label.empty()) return to_printable("the container " + label);
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string_view::npos) return "the root cgroup";
  const std::string_view trimmed = path.substr(0, last + 1);
  return to_printable(trimmed.substr(trimmed.rfind('/') + 1));
}

std::string kill_sentence(const OomVictim& victim, const KillWords& words) {
  const std::string comm = victim.comm.empty() ? "a process" : to_printable(victim.comm);
  const std::string what = fmt::format("{} ({}){}", comm, victim.pid, kill_reason(victim, words));
  if (!victim.killer) return "The OOM killer killed " + what;
  const std::string killer = fmt::format("{} ({})", to_printable(victim.killer->comm), victim.killer->pid);
  const std::string signal = signal_name(victim.killer->signal);
  return victim.killed() ? fmt::format("{} killed {} with {}", killer, what, signal)
                         : fmt::format("{} sent {} to {}", killer, signal, what);
}

}  // namespace memoir
