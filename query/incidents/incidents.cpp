#include "query/incidents/incidents.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/text.h"
#include "query/args/times.h"
#include "query/incidents/makers.h"
#include "query/names/name_lookup.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// The processes that a SUBJECT is compared with: each victim, and for each incident with a cgroup one made-up process
// in that cgroup.
struct Involved {
  std::vector<StoredProcess> processes;
  std::vector<std::size_t> incidents;  // index of the incident of each process
};

Result<StoredProcess> involved_victim(Reader& reader, const OomVictim& victim) {
  constexpr std::int64_t slack_ms = 60'000;  // ticks observe starts and exits late
  const Range around{victim.at_ms - slack_ms, victim.at_ms + slack_ms};
  std::vector<StoredProcess> processes = TRY(load_processes_of_pid(reader, around, victim.pid));
  const auto named = std::ranges::find_if(processes, [&victim](const StoredProcess& process) {
    return process.info.start_ms <= victim.at_ms + 1'000 &&
           process.exited_ms.value_or(victim.at_ms) >= victim.at_ms - 1'000;
  });
  if (named != processes.end()) return std::move(*named);
  StoredProcess process;
  process.info.key.pid = victim.pid;
  process.info.comm = process.info.command = victim.comm;
  process.info.cgroup = victim.cgroup;
  process.info.start_ms = victim.at_ms;
  return process;
}

Result<Involved> load_involved(Reader& reader, const std::vector<IncidentEntry>& incidents) {
  constexpr std::size_t max_victims = 1'000;  // victims of the latest incidents; a flood of kills has more
  Involved involved;
  const auto add = [&](StoredProcess process, std::size_t incident) {
    process.id = std::ssize(involved.processes) + 1;
    involved.processes.push_back(std::move(process));
    involved.incidents.push_back(incident);
  };
  for (std::size_t i = 0; i < incidents.size(); ++i) {
    for (const OomVictim& victim : incidents[i].victims) {
      if (involved.processes.size() < max_victims) add(TRY(involved_victim(reader, victim)), i);
    }
    if (incidents[i].cgroup.empty()) continue;
    StoredProcess whole;
    whole.info.cgroup = incidents[i].cgroup;
    add(std::move(whole), i);
  }
  return involved;
}

// Returns the processes among `processes` that `word` means. A pid means all processes that had it.
Result<std::vector<StoredProcess>> members_meant(const Context& context, const std::string& word,
                                                 const std::vector<StoredProcess>& processes) {
  const Range all{context.file.first_tick_ms, context.file.last_tick_ms};
  Subject named = TRY(parse_subject(word, context.now_ms, context.options.zone));
  const Subject subject = TRY(choose_subject(context, std::move(named), processes, all));
  if (subject.kind != Subject::Kind::process) return members_of(subject, processes, context.options.zone);
  std::vector<StoredProcess> members = processes;
  std::erase_if(members, [&subject](const StoredProcess& process) {
    return process.info.key.pid != subject.pid ||
           (subject.start_ms && !is_start(process.info.start_ms, *subject.start_ms));
  });
  if (members.empty()) return Error{ErrorKind::not_found, no_process_of("pid", subject.name, processes)};
  return members;
}

// Returns the error for a word that means no process of an incident. If it means a process of the last day, that
// process had no incident.
Error no_incident_of(const Context& context, const std::string& word, Error unknown) {
  if (unknown.kind != ErrorKind::not_found) return unknown;
  const Range day{context.file.last_tick_ms - kDayMs, context.file.last_tick_ms};
  const Result<std::vector<StoredProcess>> processes = load_processes(context.reader, day);
  if (!processes) return processes.error();
  if (!members_meant(context, word, *processes)) return unknown;
  return {ErrorKind::not_found,
          fmt::format("no incident of {} is recorded; memoir incidents lists all incidents", to_printable(word))};
}

Result<std::vector<IncidentEntry>> load_all(const Context& context, Range range) {
  // A kill may be later than the last tick.
  std::vector<IncidentEntry> incidents = TRY(load_kill_incidents(context, {range.from_ms, range.to_ms + kDayMs}));
  const ContainerNames containers = TRY(container_names(context.reader));
  TRY(add_limit_incidents(context, range, containers, incidents));
  TRY(add_machine_incidents(context, range, incidents));
  std::ranges::stable_sort(incidents, std::greater(), &IncidentEntry::at_ms);
  return incidents;
}

}  // namespace

Result<std::vector<IncidentEntry>> load_incidents(const Context& context, Range range) {
  // Numbers count back from the end of the recording, so all later incidents are loaded, too.
  std::vector<IncidentEntry> incidents =
      TRY(load_all(context, {range.from_ms, std::max(range.to_ms, context.file.last_tick_ms)}));
  for (std::size_t i = 0; i < incidents.size(); ++i) incidents[i].number = static_cast<std::int64_t>(i + 1);
  std::erase_if(incidents, [range](const IncidentEntry& entry) {
    return entry.from_ms > range.to_ms || entry.to_ms < range.from_ms;
  });
  return incidents;
}

std::optional<IncidentEntry> nearest_incident(std::vector<IncidentEntry> incidents, std::int64_t at_ms) {
  const auto distance = [at_ms](const auto& of) { return std::abs(of.at_ms - at_ms); };
  const auto rank = [&](const IncidentEntry& entry) {
    const OomVictim* const victim = entry.shown_victim();
    const std::int64_t kib = victim == nullptr ? 0 : victim->peak_kib.value_or(victim->held_kib.value_or(0));
    return std::pair(distance(entry), -kib);
  };
  for (IncidentEntry& entry : incidents) {
    const auto victim = std::ranges::min_element(entry.victims, {}, distance);
    if (victim == entry.victims.end()) continue;
    entry.victim = static_cast<std::size_t>(victim - entry.victims.begin());
    entry.at_ms = victim->at_ms;
  }
  const auto nearest = std::ranges::min_element(incidents, {}, rank);
  return nearest == incidents.end() ? std::nullopt : std::optional(std::move(*nearest));
}

Result<std::optional<IncidentEntry>> incident_at(const Context& context, std::int64_t at_ms) {
  const auto near = [at_ms](std::vector<IncidentEntry> incidents) {
    auto nearest = nearest_incident(std::move(incidents), at_ms);
    if (nearest && std::abs(nearest->at_ms - at_ms) > kSameMomentMs) nearest.reset();
    return nearest;
  };
  const Range moment{at_ms - kSameMomentMs, at_ms + kSameMomentMs + kSameIncidentMs};
  auto kill = near(TRY(load_kill_incidents(context, moment)));
  if (kill) return kill;
  // The range is wide enough to contain incidents in full.
  return near(TRY(load_all(context, {at_ms - kHourMs, at_ms + kHourMs})));
}

Result<std::vector<IncidentEntry>> incidents_of(const Context& context, std::vector<IncidentEntry> incidents,
                                                const std::string& word) {
  if (word == "machine") {
    std::erase_if(incidents, [](const IncidentEntry& entry) { return !entry.cgroup.empty(); });
    return incidents;
  }
  const Involved involved = TRY(load_involved(context.reader, incidents));
  const Result<std::vector<StoredProcess>> members = members_meant(context, word, involved.processes);
  if (!members) return no_incident_of(context, word, members.error());
  std::set<std::size_t> chosen;
  for (const StoredProcess& member : *members)
    chosen.insert(involved.incidents[static_cast<std::size_t>(member.id - 1)]);
  std::vector<IncidentEntry> kept;
  kept.reserve(chosen.size());
  for (const std::size_t i : chosen) kept.push_back(std::move(incidents[i]));
  return kept;
}

}  // namespace memoir::query
