#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>

#include "analysis/span_stats.h"
#include "base/text.h"
#include "model/identity.h"
#include "query/commands/incident/incident.h"
#include "query/history/event_table.h"
#include "query/render/layout.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"
#include "store/activity.h"
#include "store/events.h"
#include "store/names.h"
#include "store/shmem_state.h"

namespace memoir::query {
namespace {

constexpr Metric kSome = metric_of(MachineField::psi_some_total);
constexpr Metric kFull = metric_of(MachineField::psi_full_total);
constexpr double kNearlyFullPercent = 80;  // usage of a tmpfs, in percent of its size
constexpr std::int64_t kSlackMs = 1'000;  // tolerance between the times of a kill and of a process, by different clocks

bool lived(const StoredProcess& process, const OomVictim& victim) {
  // exited_ms may be the time of the first tick without the process, some time after the kill.
  return process.info.key.pid == victim.pid && process.info.start_ms <= victim.at_ms + kSlackMs &&
         process.exited_ms.value_or(victim.at_ms) >= victim.at_ms - kSlackMs;
}

// Returns the time of the last known state of the machine with the victim. A tick in progress at the kill may lack the
// victim. A kill known only from counters is before the tick that counts it.
Result<std::int64_t> last_before(Reader& reader, const IncidentTime& instant) {
  if (!instant.is_kill()) return instant.at_ms;
  if (!instant.victim) return instant.at_ms - 1;
  const Range around{instant.at_ms - kSlackMs, instant.at_ms + kSlackMs};
  std::int64_t at_ms = instant.at_ms;
  for (const StoredProcess& process : TRY(load_processes_of_pid(reader, around, instant.victim->pid))) {
    if (lived(process, *instant.victim) && process.exited_ms) at_ms = std::min(at_ms, process.last_ms);
  }
  return at_ms;
}

// Outcome of the processes of an identity.
struct PartOutcome {
  std::optional<std::int64_t> began_ms;  // first start after `before`
  std::optional<std::int64_t> killed_ms;
  std::optional<std::int64_t> exited_ms;  // last exit
  std::optional<std::int64_t> again_ms;   // first start after a kill
};

void keep_first(std::optional<std::int64_t>& at, std::int64_t ms) {
  at = std::min(at.value_or(ms), ms);
}

std::map<std::string, PartOutcome> outcomes_of(const Incident& incident) {
  std::map<std::string, PartOutcome> outcomes;
  // Takes the last kill up to the time of the incident, or else the first one after it.
  for (const OomVictim& victim : incident.victims) {
    const StoredProcess* const process = victim.killed() ? process_of(incident, victim) : nullptr;
    if (process == nullptr) continue;
    std::optional<std::int64_t>& killed_ms = outcomes[group_key(*process, "identity")].killed_ms;
    if (!killed_ms || victim.at_ms <= incident.instant.at_ms) killed_ms = victim.at_ms;
  }
  for (const StoredProcess& process : incident.processes) {
    PartOutcome& outcome = outcomes[group_key(process, "identity")];
    if (process.first_ms > incident.range.from_ms) keep_first(outcome.began_ms, process.info.start_ms);
    if (outcome.killed_ms && process.info.start_ms > *outcome.killed_ms)
      keep_first(outcome.again_ms, process.info.start_ms);
    if (process.exited_ms && *process.exited_ms <= incident.range.to_ms)
      outcome.exited_ms = std::max(outcome.exited_ms.value_or(0), *process.exited_ms);
  }
  return outcomes;
}

std::string format_outcome(const PartOutcome& outcome, const Part& part, Zone zone) {
  std::string text;
  const auto add = [&](const char* what, std::int64_t ms) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, clock_time(ms, zone));
  };
  if (!part.before_kib && outcome.began_ms && !outcome.killed_ms) add("started", *outcome.began_ms);
  if (outcome.killed_ms && outcome.again_ms) text = "killed";
  if (outcome.killed_ms && !outcome.again_ms) add("killed", *outcome.killed_ms);
  if (outcome.again_ms) {
    add("restarted", *outcome.again_ms);
  } else if (!outcome.killed_ms && !part.after_kib && outcome.exited_ms) {
    add("exited", *outcome.exited_ms);
  }
  return text;
}

std::optional<std::int64_t> held(const Tally& tally) {
  return tally.processes() == 0 ? std::nullopt : tally.kib(Metric::pss);
}

// Adds the identities with their memory.
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
  // An identity that started only after the incident is a consequence.
  for (const Change& row : fall.rows()) {
    if (rise.find(0, row.name) == nullptr)
      incident.parts.push_back({.name = row.name, .title = row.name, .of_processes = true, .after_kib = held(row.is)});
  }
  return Done{};
}

// Other memory in use: neither free nor immediately available.
constexpr std::array kOthers{MachinePart::shmem,         MachinePart::unreclaimable, MachinePart::page_tables,
                             MachinePart::kernel_stacks, MachinePart::percpu,        MachinePart::huge_pages,
                             MachinePart::zswap,         MachinePart::balloon,       MachinePart::remainder};

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

// Adds a part that completes the sum. Mapped files count both as the processes' memory and as available, and some free
// memory is reserved.
void add_rest(Incident& incident) {
  std::int64_t sum = 0;
  for (const Part& part : incident.parts) sum += part.change_kib;
  Part rest{.name = "available_in_use", .title = "mapped file cache and reserves"};
  rest.change_kib = incident.machine.change_kib - sum;
  if (rest.change_kib != 0) incident.parts.push_back(std::move(rest));
}

// Sorts the parts by the size of their change. Parts in the cgroup of the incident, or the memory of a full tmpfs, come
// first.
void rank(Incident& incident) {
  const auto& entry = incident.instant.entry;
  const bool of_tmpfs = entry && entry->kind == IncidentKind::tmpfs;
  std::ranges::stable_sort(incident.parts, std::greater(), [of_tmpfs](const Part& part) {
    return std::pair(part.in_limit || (of_tmpfs && part.name == "shmem"), std::abs(part.change_kib));
  });
}

void mark_limit(Incident& incident) {
  if (!incident.scope) return;
  std::set<std::string> names;
  for (const StoredProcess& process : incident.processes) {
    const bool was_there = process.first_ms <= incident.instant.at_ms &&
                           process.exited_ms.value_or(incident.instant.at_ms) >= incident.range.from_ms;
    if (was_there && is_in_cgroup(process.info.cgroup, incident.scope->cgroup))
      names.insert(group_key(process, "identity"));
  }
  for (Part& part : incident.parts) {
    part.in_limit = part.of_processes && names.contains(part.name) && (part.before_kib || part.at_kib || part.killed);
  }
}

// Returns the command without its interpreter and the script's directory: "worker.py 3" for "python3 -u /srv/worker.py
// 3".
std::string program_of(const ProcessInfo& info) {
  std::string command = shown_command(info, '?');
  const std::string script = script_of(command);
  for (std::size_t at = command.find(script); !script.empty() && at != std::string::npos;
       at = command.find(script, at + 1)) {
    const std::size_t end = at + script.size();
    const bool is_word = at > 0 && (command[at - 1] == ' ' || command[at - 1] == '/');
    if (is_word && (end == command.size() || command[end] == ' ')) return command.substr(at);
  }
  return command;
}

using Actors = std::map<std::string, std::vector<const StoredProcess*>>;

// Returns the relevant processes of each identity: its victim; without one, the processes that changed their memory;
// without these, all. The victim of the incident takes precedence over others.
Actors find_actors(const Incident& incident, const Changes& changes) {
  Actors actors;
  for (const Change& row : changes.rows()) {
    const StoredProcess* const process = last_seen(row).process;
    if (row.change_kib(Metric::pss) != 0) actors[group_key(*process, "identity")].push_back(process);
  }
  Actors others;
  for (const StoredProcess& process : incident.processes) others[group_key(process, "identity")].push_back(&process);
  actors.merge(others);
  const auto add_victim = [&](const OomVictim& victim) {
    const StoredProcess* const process = victim.killed() ? process_of(incident, victim) : nullptr;
    if (process != nullptr) actors[group_key(*process, "identity")] = {process};
  };
  std::ranges::for_each(incident.victims, add_victim);
  if (incident.instant.victim) add_victim(*incident.instant.victim);
  return actors;
}

// Names the processes of each part, with their outcome. Returns the number of parts that restarted.
std::int64_t describe(const std::map<std::string, PartOutcome>& outcomes, const Actors& actors, Zone zone,
                      std::vector<Part>& parts) {
  std::int64_t restarts = 0;
  for (Part& part : parts) {
    const auto of = actors.find(part.name);
    if (!part.of_processes || of == actors.end()) continue;
    part.title = program_title(newest_of(of->second));
    const PartOutcome& outcome = outcomes.at(part.name);
    part.outcome = format_outcome(outcome, part, zone);
    part.killed = outcome.killed_ms.has_value();
    part.restarted_ms = outcome.again_ms;
    restarts += outcome.again_ms ? 1 : 0;
  }
  return restarts;
}

Status describe(const Context& context, Incident& incident) {
  const Zone zone = context.options.zone;
  const std::map<std::string, PartOutcome> outcomes = outcomes_of(incident);
  Changes changes("process");
  TRY(changes.add(context.reader, Filter(), incident.before, false));
  TRY(changes.add(context.reader, Filter(), incident.at, true));
  const Actors actors = find_actors(incident, changes);
  incident.restarts = describe(outcomes, actors, zone, incident.parts);
  if (incident.scope) incident.scope->restarts = describe(outcomes, actors, zone, incident.scope->parts);
  return Done{};
}

// Adds unsampled victims as parts.
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
  const std::optional<ShmemState> was = TRY(shmem_state_of(reader, incident.before));
  const std::optional<ShmemState> is = TRY(shmem_state_of(reader, incident.at));
  if (!was || !is) return Done{};
  std::int64_t most = 0;
  for (const TmpfsSample& mount : is->mounts) {
    const auto before = std::ranges::find(was->mounts, mount.mount_point, &TmpfsSample::mount_point);
    const std::int64_t held = before == was->mounts.end() ? 0 : before->used_kib.value_or(0);
    const std::int64_t grown = mount.used_kib.value_or(held) - held;
    if (grown <= most) continue;
    most = grown;
    incident.tmpfs_grown = fmt::format("{} {}", mount.mount_point, format_change(grown, units));
  }
  return Done{};
}

// Takes nearly full mounts from the state after the incident, because the recorder walks a mount after it has filled
// up.
Status load_full_tmpfs(Reader& reader, Incident& incident) {
  const StoredTick* const tick = tick_of(incident.after ? *incident.after : incident.at);
  if (tick == nullptr) return Done{};
  const auto percent = [](const TmpfsAt& mount) {
    return share_percent(mount.sample.used_kib, mount.sample.limit_kib).value_or(0);
  };
  std::vector<TmpfsAt> mounts = TRY(load_tmpfs(reader, tick->id, 0));
  const auto& entry = incident.instant.entry;
  std::erase_if(mounts, [&](const TmpfsAt& mount) {
    const bool named = entry && entry->tmpfs == mount.sample.mount_point;
    return percent(mount) < kNearlyFullPercent && !named;
  });
  std::ranges::stable_sort(mounts, std::greater(), percent);
  incident.full_tmpfs = std::move(mounts);
  return Done{};
}

Status load_machine(Reader& reader, Incident& incident) {
  SeriesByMetric series = TRY(
      load_series(reader, {incident.before.tier(), SubjectKind::machine, {}, incident.range, {kSome, kFull}, true}));
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
  return Done{};
}

// Returns false if there is nothing to compare.
Result<bool> load_states(const Context& context, Incident& incident) {
  const std::int64_t at_ms = TRY(last_before(context.reader, incident.instant));
  const std::int64_t from_ms = std::max(at_ms - incident.window_ms, context.file.first_tick_ms);
  std::optional<State> at = TRY(load_state(context, at_ms));
  std::optional<State> before = TRY(load_state(context, from_ms));
  if (!at || !before) return false;
  incident.at = *std::move(at);
  incident.before = *std::move(before);
  const std::int64_t to_ms = std::min(incident.instant.at_ms + incident.window_ms, context.file.last_tick_ms);
  if (to_ms > incident.at.at_ms) {
    incident.after = TRY(load_state(context, to_ms));
    if (incident.after && incident.after->at_ms <= incident.at.at_ms) incident.after.reset();
  }
  incident.range = {incident.before.at_ms, incident.after ? incident.after->at_ms : incident.instant.at_ms};
  return true;
}

}  // namespace

// Adds the unit of a service; the path of a cgroup is not informative.
std::string program_title(const StoredProcess& process) {
  constexpr std::size_t most = 40;
  const std::string program = shorten(to_printable(program_of(process.info)), most);
  const bool of_unit = !process.unit.empty() && process.unit.front() != '/';
  return of_unit ? fmt::format("{} in {}", program, process.unit) : program;
}

const StoredProcess* process_of(const Incident& incident, const OomVictim& victim) {
  const auto found =
      std::ranges::find_if(incident.processes, [&](const StoredProcess& process) { return lived(process, victim); });
  return found == incident.processes.end() ? nullptr : &*found;
}

Result<std::optional<Incident>> load_incident(const Context& context, const IncidentTime& instant,
                                              std::int64_t window_ms) {
  Reader& reader = context.reader;
  Incident incident{.instant = instant, .window_ms = window_ms};
  if (!TRY(load_states(context, incident))) return std::optional<Incident>();
  const Range wide{incident.range.from_ms, std::max(incident.range.to_ms, instant.at_ms)};
  incident.victims = TRY(load_oom_victims(reader, wide));
  const std::optional<Activity> activity = TRY(load_activity(reader, wide));
  if (activity) incident.counted_kills = activity->oom_kills;
  const Coverage coverage = TRY(reader.coverage(wide));
  incident.events = with_events_of_runs(TRY(load_events(reader, wide)), context.runs, coverage.gaps, wide);
  incident.processes = TRY(load_processes(reader, wide, &incident.left_out));
  incident.containers = TRY(container_names(reader));
  const auto used = [](const State& state) { return used_kib(state.machine.memory); };
  incident.machine = {.name = "machine",
                      .title = "memory in use",
                      .before_kib = used(incident.before),
                      .at_kib = used(incident.at),
                      .after_kib = incident.after ? used(*incident.after) : std::nullopt};
  finish(incident.machine);
  TRY(add_identities(reader, incident));
  add_unseen_victims(incident);
  add_machine_parts(incident);
  std::ranges::for_each(incident.parts, finish);
  add_rest(incident);
  incident.scope = TRY(load_scope(context, incident));
  TRY(describe(context, incident));
  mark_limit(incident);
  rank(incident);
  TRY(load_tmpfs(reader, context.options.units, incident));
  TRY(load_full_tmpfs(reader, incident));
  TRY(load_machine(reader, incident));
  return std::optional(std::move(incident));
}

}  // namespace memoir::query
