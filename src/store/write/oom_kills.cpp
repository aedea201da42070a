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
  if (last.step()) return {.kills = last.maybe(0), .at_ms = last.integer(1)};
  // If the last tick is of another boot, the counter started at 0 with this boot.
  if (!one(database, "SELECT MAX(id) FROM tick")) return {};
  const auto booted_ms = one(database, "SELECT started_ms FROM boot WHERE id = ?", boot_id);
  return booted_ms ? OomCount{.kills = 0, .at_ms = *booted_ms} : OomCount();
}

namespace {

// Returns the cgroup of `count` kills that no cgroup counted; empty if unknown. A cgroup that existed only between two
// ticks was not read, but the kernel may have reported the victim's cgroup.
std::string reported_cgroup(const Tick& tick, std::int64_t count) {
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
  return known ? std::string(*cgroups.begin()) : "";
}

}  // namespace

void insert_oom_kills(SQLite::Database& database, std::int64_t run_id, const Tick& tick, OomCount& count) {
  std::int64_t by_counters = 0;
  const std::string since = count.at_ms == 0 ? "before" : fmt::format("between {} and", utc(count.at_ms));
  Statement detail(database, "SELECT json_object('kills', ?, 'since_ms', NULLIF(?, 0), 'cgroup', ?)");
  const auto add = [&](std::int64_t kills, const std::string& cgroup, const std::string& where) {
    by_counters += kills;
    const std::string text = fmt::format("The OOM killer killed {} {} {} {}{}", kills,
                                         kills == 1 ? "process" : "processes", since, utc(tick.begin.wall_ms), where);
    const auto json = detail.first([](const Statement& row) { return row.text(0); }, kills, count.at_ms, cgroup);
    insert_event(database, run_id, {tick.begin, "oom-kill", text}, *json);
  };
  for (const OomKills& kills : tick.oom_kills)
    add(kills.count, kills.cgroup, ", in or below the cgroup " + kills.cgroup);
  const auto now = tick.machine.memory.get(MachineField::oom_kill);
  if (now && count.kills && *now >= *count.kills) {
    const std::int64_t rest = unattributed_kills(*now - *count.kills, tick, count.ahead);
    if (rest > 0) {
      const std::string cgroup = reported_cgroup(tick, rest);
      add(rest, cgroup, cgroup.empty() ? ", cgroup unknown" : ", in the cgroup " + cgroup);
    }
  }
  const auto by_kernel = std::ranges::count_if(tick.oom_victims, [](const OomVictim& of) { return !of.killer; });
  const auto by_others =
      std::ranges::count_if(tick.oom_victims, [](const OomVictim& of) { return of.killer && of.killed(); });
  const bool has_counter = now || count.kills || by_counters > 0;
  count.in_tick = by_others + (has_counter ? by_counters : by_kernel);
  if (!has_counter && !tick.events && tick.oom_victims.empty()) count.in_tick.reset();
  // If the counter could not be read, the next tick reports the kills.
  if (now) {
    count.kills = now;
    count.at_ms = tick.begin.wall_ms;
  }
}

namespace {

constexpr std::size_t kMaxPathBytes = 1024;  // longer paths are rare, and events are kept for a long time

std::string mib(std::int64_t kib) {
  return fmt::format("{:.1f} MiB", static_cast<double>(kib) / 1024);
}

// "; the cgroup /app.service was at its limit of 8192.0 MiB; java invoked the OOM killer"
std::string what_ran_out(const OomDetail& detail) {
  std::string text = detail.scope == OomScope::machine ? "; the machine was out of memory"
                     : detail.scope == OomScope::nodes ? "; its NUMA nodes were out of memory"
                                                       : "; a cgroup was at its limit";
  if (detail.scope == OomScope::cgroup && !detail.limit_cgroup.empty()) {
    text = fmt::format("; the cgroup {} was at its limit", end_of_path(detail.limit_cgroup));
    if (detail.limit_kib) text += " of " + mib(*detail.limit_kib);
  }
  if (!detail.invoked_by.empty()) text += fmt::format("; {} invoked the OOM killer", detail.invoked_by);
  return text;
}

// "systemd-oomd (pid 512) killed java (812) in the cgroup /app.service with SIGKILL; it used 4800.0 MiB"
std::string text_of(const OomVictim& victim, const OomKiller& killer) {
  std::string named = fmt::format("{} ({})", victim.comm.empty() ? "a process" : victim.comm, victim.pid);
  if (!victim.cgroup.empty()) named += fmt::format(" in the cgroup {}", end_of_path(victim.cgroup));
  const std::string signal = signal_name(killer.signal);
  std::string text = fmt::format("{} (pid {}) ", killer.comm, killer.pid);
  text +=
      victim.killed() ? fmt::format("killed {} with {}", named, signal) : fmt::format("sent {} to {}", signal, named);
  if (victim.held_kib) text += "; it used " + mib(*victim.held_kib);
  if (victim.held && victim.held->swap_kib > 0) text += fmt::format(" and {} of swap", mib(victim.held->swap_kib));
  if (victim.peak_kib) text += fmt::format("{} {} at most", victim.held_kib ? "," : "; it used", mib(*victim.peak_kib));
  return victim.killed() ? text : text + "; it kept running";
}

std::string text_of(const OomVictim& victim) {
  if (victim.killer) return text_of(victim, *victim.killer);
  std::string text =
      fmt::format("The OOM killer killed {} ({})", victim.comm.empty() ? "a process" : victim.comm, victim.pid);
  if (!victim.cgroup.empty()) text += fmt::format(" in the cgroup {}", end_of_path(victim.cgroup));
  if (victim.peak_kib) {
    text += fmt::format("; its RSS peaked at {}", mib(*victim.peak_kib));
  } else if (victim.held_kib) {
    text += fmt::format("; its last RSS was {}", mib(*victim.held_kib));
  }
  return victim.detail ? text + what_ran_out(*victim.detail) : text;
}

}  // namespace

void insert_oom_victims(SQLite::Database& database, std::int64_t run_id, const Tick& tick) {
  for (const OomVictim& victim : tick.oom_victims) {
    const std::int64_t boot_ms = tick.begin.boot_ms - (tick.begin.wall_ms - victim.at_ms);
    OomVictim kept = victim;
    kept.cgroup = end_of_path(kept.cgroup, kMaxPathBytes);
    if (kept.detail) kept.detail->limit_cgroup = end_of_path(kept.detail->limit_cgroup, kMaxPathBytes);
    insert_event(database, run_id, {{victim.at_ms, boot_ms}, "oom-victim", text_of(victim)},
                 victim_json(database, kept));
  }
}

}  // namespace memoir
