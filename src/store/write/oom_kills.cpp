#include "store/write/oom_kills.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>

#include "base/text.h"
#include "store/rows/victim_json.h"
#include "store/sqlite/statement.h"
#include "store/write/run_log.h"

namespace memoir {

OomCount last_oom_count(SQLite::Database& database, std::int64_t boot_id) {
  Statement last(database,
                 "SELECT d.oom_kill, (SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1) FROM machine_detail AS d "
                 "JOIN tick AS t ON t.id = d.tick_id JOIN run AS r ON r.id = t.run_id WHERE r.boot_id = ? "
                 "AND d.tick_id = (SELECT MAX(tick_id) FROM machine_detail)");
  last.bind(boot_id);
  if (!last.step()) return {};
  return {last.maybe(0), last.integer(1), 0};
}

namespace {

// A cgroup that came and went between two ticks was not read; the kernel may have told. `count`: how many were there.
std::string where_of(const Tick& tick, std::int64_t count) {
  std::set<std::string_view> cgroups;
  std::int64_t victims = 0;
  for (const OomVictim& victim : tick.oom_victims) {
    const auto is_counted = [&](const OomKills& kills) {
      return !victim.cgroup.empty() && is_in_cgroup(victim.cgroup, kills.cgroup);
    };
    if (victim.killer || std::ranges::any_of(tick.oom_kills, is_counted)) continue;
    cgroups.insert(victim.cgroup);
    ++victims;
  }
  const bool known = victims == count && cgroups.size() == 1 && !cgroups.begin()->empty();
  return known ? fmt::format(", in the cgroup {}", *cgroups.begin()) : "; in which cgroup is not known";
}

}  // namespace

std::vector<Event> oom_kill_events(const Tick& tick, OomCount& count) {
  std::vector<Event> events;
  const std::string since = count.at_ms == 0 ? "before" : fmt::format("between {} and", utc(count.at_ms));
  const auto add = [&](std::int64_t kills, const std::string& where) {
    events.push_back({tick.begin, "oom-kill",
                      fmt::format("The OOM killer ended {} {} {} {}{}", kills, kills == 1 ? "process" : "processes",
                                  since, utc(tick.begin.wall_ms), where)});
  };
  for (const OomKills& kills : tick.oom_kills) add(kills.count, ", in or below the cgroup " + kills.cgroup);
  const auto now = tick.machine.memory.get(MachineField::oom_kill);
  if (now && count.kills && *now >= *count.kills) {
    const std::int64_t rest = untold_kills(*now - *count.kills, tick, count.ahead);
    if (rest > 0) add(rest, where_of(tick, rest));
  }
  count.kills = now;
  count.at_ms = tick.begin.wall_ms;
  return events;
}

namespace {

constexpr std::size_t kMostPathBytes = 1024;  // in the numbers; few paths are longer, and events stay for long

std::string mib(std::int64_t kib) {
  return fmt::format("{:.1f} MiB", static_cast<double>(kib) / 1024);
}

// "; the cgroup /app.service was at its limit of 8192.0 MiB, and java asked for more"
std::string what_ran_out(const OomDetail& detail) {
  std::string text = detail.scope == OomScope::machine ? "; the machine had no memory left"
                     : detail.scope == OomScope::nodes ? "; the memory nodes that it may use had none left"
                                                       : "; a cgroup was at its limit";
  if (detail.scope == OomScope::cgroup && !detail.limit_cgroup.empty()) {
    text = fmt::format("; the cgroup {} was at its limit", end_of_path(detail.limit_cgroup));
    if (detail.limit_kib) text += " of " + mib(*detail.limit_kib);
  }
  if (!detail.invoked_by.empty()) text += fmt::format(", and {} asked for more", detail.invoked_by);
  return text;
}

// "systemd-oomd (pid 512) killed java (812) in the cgroup /app.service with SIGKILL; it held 4800.0 MiB"
std::string text_of(const OomVictim& victim, const OomKiller& killer) {
  std::string whom = fmt::format("{} ({})", victim.comm.empty() ? "a process" : victim.comm, victim.pid);
  if (!victim.cgroup.empty()) whom += fmt::format(" in the cgroup {}", end_of_path(victim.cgroup));
  const std::string signal = signal_name(killer.signal);
  std::string text = fmt::format("{} (pid {}) ", killer.comm, killer.pid);
  text += victim.killed() ? fmt::format("killed {} with {}", whom, signal) : fmt::format("sent {} to {}", signal, whom);
  if (victim.held_kib) text += "; it held " + mib(*victim.held_kib);
  if (victim.held && victim.held->swap_kib > 0) text += fmt::format(" and {} of swap", mib(victim.held->swap_kib));
  if (victim.peak_kib) text += fmt::format("{} {} at most", victim.held_kib ? "," : "; it held", mib(*victim.peak_kib));
  return victim.killed() ? text : text + "; it had not ended soon after";
}

std::string text_of(const OomVictim& victim) {
  if (victim.killer) return text_of(victim, *victim.killer);
  std::string text =
      fmt::format("The OOM killer chose {} ({})", victim.comm.empty() ? "a process" : victim.comm, victim.pid);
  if (!victim.cgroup.empty()) text += fmt::format(" in the cgroup {}", end_of_path(victim.cgroup));
  if (victim.peak_kib) {
    text += fmt::format(", which had at most {}", mib(*victim.peak_kib));
  } else if (victim.held_kib) {
    text += fmt::format(", which held {} when it was seen last", mib(*victim.held_kib));
  }
  return victim.detail ? text + what_ran_out(*victim.detail) : text;
}

}  // namespace

void insert_oom_victims(SQLite::Database& database, std::int64_t run_id, const Tick& tick) {
  for (const OomVictim& victim : tick.oom_victims) {
    const std::int64_t boot_ms = tick.begin.boot_ms - (tick.begin.wall_ms - victim.at_ms);
    OomVictim kept = victim;
    kept.cgroup = end_of_path(kept.cgroup, kMostPathBytes);
    if (kept.detail) kept.detail->limit_cgroup = end_of_path(kept.detail->limit_cgroup, kMostPathBytes);
    insert_event(database, run_id, {{victim.at_ms, boot_ms}, "oom-victim", text_of(victim)},
                 victim_json(database, kept));
  }
}

}  // namespace memoir
