#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>

#include "analysis/rolled.h"
#include "base/text.h"
#include "query/commands/incident/incident.h"
#include "query/history/event_table.h"
#include "query/render/layout.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"
#include "store/events.h"
#include "store/names.h"

namespace memoir::query {
namespace {

constexpr Metric kSome = metric_of(MachineField::psi_some_total);
constexpr Metric kFull = metric_of(MachineField::psi_full_total);
constexpr Metric kKills = metric_of(MachineField::oom_kill);
constexpr std::int64_t kSlackMs = 1'000;  // between the clocks of those that tell

bool lived(const StoredProcess& process, const OomVictim& victim) {
  // The tick before its birth, and the one that missed it, may be a while away.
  return process.info.key.pid == victim.pid && process.info.start_ms <= victim.at_ms + kSlackMs &&
         process.gone_ms.value_or(victim.at_ms) >= victim.at_ms - kSlackMs;
}

// The last that is known of the machine with whom was killed. A tick that was being taken at that moment may be without
// it; of a kill that counters tell, the tick that does so comes after it.
Result<std::int64_t> last_before(Reader& reader, const Instant& instant) {
  if (instant.kind != Instant::Kind::oom_kill) return instant.at_ms;
  if (!instant.victim) return instant.at_ms - 1;
  const Range around{instant.at_ms - kSlackMs, instant.at_ms + kSlackMs};
  std::int64_t at_ms = instant.at_ms;
  for (const StoredProcess& process : TRY(load_processes_of_pid(reader, around, instant.victim->pid))) {
    if (lived(process, *instant.victim) && process.gone_ms) at_ms = std::min(at_ms, process.last_ms);
  }
  return at_ms;
}

// What happened to the processes of an identity.
struct Fate {
  std::optional<std::int64_t> began_ms;  // the first that was born since the state before
  std::optional<std::int64_t> killed_ms;
  std::optional<std::int64_t> ended_ms;  // the last that ended
  std::optional<std::int64_t> again_ms;  // the first that was born after one was killed
};

void keep_first(std::optional<std::int64_t>& at, std::int64_t ms) {
  at = std::min(at.value_or(ms), ms);
}

std::map<std::string, Fate> fates_of(const Incident& incident) {
  std::map<std::string, Fate> fates;
  for (const OomVictim& victim : incident.victims) {
    if (!victim.killed()) continue;
    if (const StoredProcess* const process = process_of(incident, victim))
      keep_first(fates[group_key(*process, "identity")].killed_ms, victim.at_ms);
  }
  for (const StoredProcess& process : incident.processes) {
    Fate& fate = fates[group_key(process, "identity")];
    if (process.first_ms > incident.range.from_ms) keep_first(fate.began_ms, process.info.start_ms);
    if (fate.killed_ms && process.info.start_ms > *fate.killed_ms) keep_first(fate.again_ms, process.info.start_ms);
    if (process.gone_ms && *process.gone_ms <= incident.range.to_ms)
      fate.ended_ms = std::max(fate.ended_ms.value_or(0), *process.gone_ms);
  }
  return fates;
}

std::string print_fate(const Fate& fate, const Part& part, Zone zone) {
  std::string text;
  const auto add = [&](const char* what, std::int64_t ms) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, clock_time(ms, zone));
  };
  if (!part.before_kib && fate.began_ms && !fate.killed_ms) add("began", *fate.began_ms);
  if (fate.killed_ms && fate.again_ms) text = "killed";
  if (fate.killed_ms && !fate.again_ms) add("killed", *fate.killed_ms);
  if (fate.again_ms) {
    add("restarted", *fate.again_ms);
  } else if (!fate.killed_ms && !part.after_kib && fate.ended_ms) {
    add("ended", *fate.ended_ms);
  }
  return text;
}

std::optional<std::int64_t> held(const Tally& tally) {
  return tally.processes() == 0 ? std::nullopt : tally.kib(Metric::pss);
}

void finish(Part& part) {
  part.change_kib = part.at_kib.value_or(0) - part.before_kib.value_or(0);
}

// The identities, by what they hold.
Status add_identities(Reader& reader, Incident& incident) {
  Changes rise("identity");
  Changes fall("identity");
  const Filter all;
  TRY(rise.add(reader, all, incident.before, false));
  TRY(rise.add(reader, all, incident.at, true));
  if (incident.after) TRY(fall.add(reader, all, *incident.after, true));
  const auto after_of = [&](const std::string& name) {
    const Change* const after = fall.find(0, name);
    return after == nullptr ? std::nullopt : held(after->is);
  };
  for (const Change& row : rise.rows()) {
    incident.parts.push_back({.name = row.name,
                              .title = row.name,
                              .of_processes = true,
                              .before_kib = held(row.was),
                              .at_kib = held(row.is),
                              .after_kib = after_of(row.name)});
  }
  // Who began only then is a part of what came after.
  for (const Change& row : fall.rows()) {
    if (rise.find(0, row.name) == nullptr)
      incident.parts.push_back({.name = row.name, .title = row.name, .of_processes = true, .after_kib = held(row.is)});
  }
  return Done{};
}

// What else is in use: not free, and not to be had at once.
constexpr std::array kOthers{MachinePart::shmem,         MachinePart::unreclaimable, MachinePart::page_tables,
                             MachinePart::kernel_stacks, MachinePart::percpu,        MachinePart::huge_pages,
                             MachinePart::zswap,         MachinePart::balloon,       MachinePart::rest};

void add_machine_parts(Incident& incident) {
  std::vector<const State*> states{&incident.before, &incident.at};
  if (incident.after) states.push_back(&*incident.after);
  const auto parts = machine_parts_of(states);
  const auto& before = parts[0];
  const auto& at = parts[1];
  const auto after = incident.after ? parts[2] : std::nullopt;
  if (!before || !at) return;
  for (const MachinePart part : kOthers) {
    const auto i = static_cast<std::size_t>(part);
    if ((*before)[i].value_or(0) == 0 && (*at)[i].value_or(0) == 0) continue;
    incident.parts.push_back({.name = std::string(to_string(part)),
                              .title = std::string(machine_part_title(part)),
                              .before_kib = (*before)[i],
                              .at_kib = (*at)[i],
                              .after_kib = after ? (*after)[i] : std::nullopt});
  }
}

// Files that processes map count as theirs, and as available too; of what is free some is kept back. What that moved by
// makes the sum whole.
void add_rest(Incident& incident) {
  std::int64_t sum = 0;
  for (const Part& part : incident.parts) sum += part.change_kib;
  Part rest{.name = "available_in_use", .title = "file cache among these that counts as available, and reserves"};
  rest.change_kib = incident.machine.change_kib - sum;
  if (rest.change_kib != 0) incident.parts.push_back(std::move(rest));
}

// What concerns an OOM kill at a limit is in that cgroup; and whoever was killed stands first among equals.
void rank(Incident& incident) {
  std::ranges::stable_sort(incident.parts, std::greater(),
                           [](const Part& part) { return std::pair(part.in_limit, std::abs(part.change_kib)); });
}

std::string limit_cgroup(const Instant& instant) {
  if (!instant.victim || instant.victim->killer) return {};
  const auto& detail = instant.victim->detail;
  if (detail && detail->scope != OomScope::cgroup) return {};
  return detail && !detail->limit_cgroup.empty() ? detail->limit_cgroup : instant.victim->cgroup;
}

void mark_limit(Incident& incident) {
  const std::string limit = limit_cgroup(incident.instant);
  if (limit.empty() || limit == "/") return;
  std::set<std::string> names;
  for (const StoredProcess& process : incident.processes) {
    const bool was_there = process.first_ms <= incident.instant.at_ms &&
                           process.gone_ms.value_or(incident.instant.at_ms) >= incident.range.from_ms;
    if (was_there && is_in_cgroup(process.info.cgroup, limit)) names.insert(group_key(process, "identity"));
  }
  for (Part& part : incident.parts) {
    part.in_limit = part.of_processes && names.contains(part.name) && (part.before_kib || part.at_kib || part.killed);
  }
}

// Short enough for a sentence. Where it runs is told of services; a path says little.
std::string title_of(const StoredProcess& process) {
  constexpr std::size_t most = 40;
  const std::string command = shorten(to_printable(shown_command(process.info, '?')), most);
  const bool of_unit = !process.unit.empty() && process.unit.front() != '/';
  return of_unit ? fmt::format("{} in {}", command, process.unit) : command;
}

void describe(Zone zone, Incident& incident) {
  const std::map<std::string, Fate> fates = fates_of(incident);
  std::map<std::string, const StoredProcess*> newest;
  for (const StoredProcess& process : incident.processes) {
    const StoredProcess*& of = newest[group_key(process, "identity")];
    if (of == nullptr || process.id > of->id) of = &process;
  }
  for (Part& part : incident.parts) {
    const auto process = newest.find(part.name);
    if (!part.of_processes || process == newest.end()) continue;
    part.title = title_of(*process->second);
    const Fate& fate = fates.at(part.name);
    part.fate = print_fate(fate, part, zone);
    part.killed = fate.killed_ms.has_value();
    incident.restarts += fate.again_ms ? 1 : 0;
  }
}

// Who was killed before any tick saw it is a part, too.
void add_unseen_victims(Incident& incident) {
  for (const OomVictim& victim : incident.victims) {
    const StoredProcess* const process = process_of(incident, victim);
    if (process == nullptr) continue;
    const std::string name = group_key(*process, "identity");
    if (std::ranges::find(incident.parts, name, &Part::name) == incident.parts.end())
      incident.parts.push_back({.name = name, .title = name, .of_processes = true});
  }
}

Status load_tmpfs(Reader& reader, Units units, Incident& incident) {
  const std::optional<Outside> was = TRY(outside_of(reader, incident.before));
  const std::optional<Outside> is = TRY(outside_of(reader, incident.at));
  if (!was || !is) return Done{};
  std::int64_t most = 0;
  for (const TmpfsSample& mount : is->mounts) {
    const auto before = std::ranges::find(was->mounts, mount.mount_point, &TmpfsSample::mount_point);
    const std::int64_t held = before == was->mounts.end() ? 0 : before->used_kib.value_or(0);
    const std::int64_t grown = mount.used_kib.value_or(held) - held;
    if (grown <= most) continue;
    most = grown;
    incident.tmpfs_grown = fmt::format("{} {}", mount.mount_point, print_change(grown, units));
  }
  return Done{};
}

Status load_machine(Reader& reader, Incident& incident) {
  std::map<Metric, std::vector<Interval>> series;
  TRY(reader.history({incident.before.tier(), SubjectKind::machine, {}, incident.range, {kSome, kFull, kKills}, true},
                     [&series](const SubjectInterval& of) { series[of.metric].push_back(of.interval); }));
  const std::vector<Increase> full = increases_of(series[kFull]);
  const auto percent = [](const Increase& of) {
    return std::min(100.0, static_cast<double>(of.by) / 10 / static_cast<double>(of.covered_ms));
  };
  for (const Increase& some : increases_of(series[kSome])) {
    if (some.covered_ms < 500 || (incident.worst && percent(some) <= incident.worst->some_percent)) continue;
    incident.worst = {percent(some), 0, some.from_ms, some.until_ms};
    const auto same = std::ranges::find(full, some.from_ms, &Increase::from_ms);
    if (same != full.end() && same->covered_ms > 0) incident.worst->full_percent = percent(*same);
  }
  if (series[kKills].empty()) return Done{};
  incident.counted_kills = 0;
  for (const Increase& kills : increases_of(series[kKills])) *incident.counted_kills += kills.by;
  return Done{};
}

// False: there is nothing to compare.
Result<bool> load_states(const Context& context, Incident& incident) {
  const std::int64_t at_ms = TRY(last_before(context.reader, incident.instant));
  const std::int64_t from_ms = std::max(at_ms - incident.window_ms, context.file.first_tick_ms);
  std::optional<State> at = TRY(load_state(context, at_ms));
  std::optional<State> before = TRY(load_state(context, from_ms));
  if (!at || !before) return false;
  incident.at = *std::move(at);
  incident.before = *std::move(before);
  const std::int64_t to_ms = std::min(incident.instant.at_ms + incident.window_ms, context.file.last_tick_ms);
  if (to_ms > time_of(incident.at)) {
    incident.after = TRY(load_state(context, to_ms));
    if (incident.after && time_of(*incident.after) <= time_of(incident.at)) incident.after.reset();
  }
  incident.range = {time_of(incident.before), incident.after ? time_of(*incident.after) : incident.instant.at_ms};
  return true;
}

}  // namespace

std::int64_t time_of(const State& state) {
  return state.at_ms;
}

const StoredProcess* process_of(const Incident& incident, const OomVictim& victim) {
  const auto found =
      std::ranges::find_if(incident.processes, [&](const StoredProcess& process) { return lived(process, victim); });
  return found == incident.processes.end() ? nullptr : &*found;
}

Result<std::optional<Incident>> load_incident(const Context& context, const Instant& instant, std::int64_t window_ms) {
  Reader& reader = context.reader;
  Incident incident{.instant = instant, .window_ms = window_ms};
  if (!TRY(load_states(context, incident))) return std::optional<Incident>();
  const Range wide{incident.range.from_ms, std::max(incident.range.to_ms, instant.at_ms)};
  incident.victims = TRY(load_oom_victims(reader, wide));
  const Coverage coverage = TRY(reader.coverage(wide));
  incident.events = with_events_of_runs(TRY(load_events(reader, wide)), context.runs, coverage.gaps, wide);
  incident.processes = TRY(load_processes(reader, wide));
  incident.containers = TRY(container_names(reader));
  const auto used = [](const State& state) { return used_kib(state.machine.memory); };
  incident.machine = {.name = "machine",
                      .title = "the machine, in use",
                      .before_kib = used(incident.before),
                      .at_kib = used(incident.at),
                      .after_kib = incident.after ? used(*incident.after) : std::nullopt};
  finish(incident.machine);
  TRY(add_identities(reader, incident));
  add_unseen_victims(incident);
  add_machine_parts(incident);
  std::ranges::for_each(incident.parts, finish);
  add_rest(incident);
  describe(context.options.zone, incident);
  mark_limit(incident);
  rank(incident);
  TRY(load_tmpfs(reader, context.options.units, incident));
  TRY(load_machine(reader, incident));
  return std::optional(std::move(incident));
}

}  // namespace memoir::query
