#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "query/commands/incident/incident.h"
#include "query/history/event_table.h"
#include "query/history/exits.h"
#include "query/history/marks.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

constexpr std::size_t kMostEvents = 20;
constexpr std::ptrdiff_t kMostVictims = 100;
constexpr std::size_t kMostEnded = 8;
constexpr std::size_t kMostPeaks = 8;
constexpr std::size_t kMostLimits = 5;
constexpr std::size_t kMostSamples = 8;

// A cgroup, and how much of its limit it uses.
struct Limit {
  CgroupSample cgroup;
  double percent = 0;
};

std::vector<Limit> nearest_limits(const State& state) {
  std::vector<Limit> limits;
  for (const CgroupSample& cgroup : state.cgroups.value_or(std::vector<CgroupSample>())) {
    if (cgroup.max_kib.value_or(0) <= 0) continue;
    limits.push_back({cgroup, 100.0 * static_cast<double>(cgroup.current_kib) / static_cast<double>(*cgroup.max_kib)});
  }
  std::ranges::stable_sort(limits, std::ranges::greater(), &Limit::percent);
  if (limits.size() > kMostLimits) limits.resize(kMostLimits);
  return limits;
}

std::string pressure_line(const Incident& incident, Zone zone) {
  if (!incident.worst) return "Pressure   not recorded";
  if (incident.worst->some_percent < 0.05) return "Pressure   none: nobody waited for memory";
  return fmt::format("Pressure   some {}, full {} of the time at the worst ({} to {})",
                     print_percent(incident.worst->some_percent), print_percent(incident.worst->full_percent),
                     clock_time(incident.worst->from_ms, zone), clock_time(incident.worst->until_ms, zone));
}

std::string swap_line(const Incident& incident, Units units) {
  const MachineMemory& was = incident.before.machine.memory;
  const MachineMemory& is = incident.at.machine.memory;
  const auto used = swap_used_kib(is);
  if (is.get(MachineField::swap_total).value_or(0) == 0) return "Swap       none on this machine";
  if (!used) return "Swap       not known";
  const std::int64_t change = *used - swap_used_kib(was).value_or(*used);
  return fmt::format("Swap       {} of {} in use{}", print_size(*used, units),
                     print_size(is.or_zero(MachineField::swap_total), units),
                     change == 0 ? "" : fmt::format(", {}", print_change(change, units)));
}

// ", 2 processes by systemd-oomd, 1 process by earlyoom"
std::string other_killers(const Incident& incident) {
  std::map<std::string, std::int64_t> kills;
  for (const OomVictim& victim : incident.victims) {
    if (victim.killer && victim.killed()) ++kills[to_printable(victim.killer->comm)];
  }
  std::string text;
  for (const auto& [killer, count] : kills)
    text += fmt::format(", {} by {}", print_count(count, "process", "processes"), killer);
  return text;
}

std::string death_line(const Incident& incident) {
  const auto told = std::ranges::count_if(incident.victims, [](const OomVictim& of) { return !of.killer; });
  const std::int64_t kills = std::max(told, incident.counted_kills.value_or(0));
  std::string line = kills == 0
                         ? "Killed     none by the OOM killer"
                         : fmt::format("Killed     {} by the OOM killer", print_count(kills, "process", "processes"));
  if (kills > told) line += fmt::format(", of which {} only counted", kills - told);
  return line + fmt::format("{}; restarted {}", other_killers(incident), incident.restarts);
}

std::string limit_line(const Incident& incident, Units units) {
  const std::vector<Limit> limits = nearest_limits(incident.at);
  if (limits.empty()) return "Limits     no cgroup has one";
  std::string line = "Limits     ";
  for (std::size_t i = 0; i < std::min<std::size_t>(limits.size(), 2); ++i) {
    const Limit& limit = limits[i];
    line += fmt::format("{}{} {} of {}", i == 0 ? "" : "; next ", place_of(incident, limit.cgroup.path),
                        print_size(limit.cgroup.current_kib, units), print_size(*limit.cgroup.max_kib, units));
  }
  return line;
}

// ", closely from 03:12:31 on"
std::string burst_words(const Incident& incident, Zone zone) {
  const auto burst = std::ranges::find_if(
      incident.events, [](const Event& event) { return event.kind == "burst" && event.text.starts_with("Began"); });
  return burst == incident.events.end() ? "" : fmt::format(", closely from {} on", clock_time(burst->at.wall_ms, zone));
}

Result<std::string> seen_line(const Context& context, const Incident& incident) {
  std::int64_t looks = 0;
  std::int64_t count = 0;
  std::int64_t told = 0;
  std::int64_t lost = 0;
  for (const StoredTick& tick : TRY(context.reader.ticks(incident.range))) {
    ++count;
    looks += tick.looks ? tick.looks->count : 0;
    told += tick.events ? 1 : 0;
    lost += tick.events ? tick.events->lost : 0;
  }
  const std::string events = told == 0 ? "nobody told of processes that came and went between them"
                             : lost == 0
                                 ? "no event of a process was lost"
                                 : print_count(lost, "event of a process was lost", "events of processes were lost");
  return fmt::format("Seen       {} and {} between them{}; {}", print_count(count, "tick", "ticks"),
                     print_count(looks, "look", "looks"), burst_words(incident, context.options.zone), events);
}

Status add_around(const Context& context, const Incident& incident, Report& report) {
  const Options& options = context.options;
  Section around{"around", "Around it", {}};
  const std::string seen = TRY(seen_line(context, incident));
  around.notes = {pressure_line(incident, options.zone), swap_line(incident, options.units), death_line(incident),
                  limit_line(incident, options.units), seen};
  if (options.format == Format::table) {
    around.notes.push_back(fmt::format("More       memoir incident --at '{}' --format html > incident.html",
                                       print_time(incident.instant.at_ms, options.zone)));
  }
  report.sections.push_back(std::move(around));
  const auto percent = [&](double Stall::*of) { return incident.worst ? Value((*incident.worst).*of) : Value(); };
  report.totals = {{"oom_victims", "", Kind::count, incident.victims.size()},
                   {"oom_kills", "", Kind::count, incident.counted_kills},
                   {"restarts", "", Kind::count, incident.restarts},
                   {"stalled_percent", "", Kind::percent, percent(&Stall::some_percent)},
                   {"stalled_full_percent", "", Kind::percent, percent(&Stall::full_percent)},
                   {"change_kib", "", Kind::change, incident.machine.change_kib}};
  return Done{};
}

template <typename Get>
auto of_detail(Get get) {
  return [get](const OomVictim& victim) { return victim.detail ? Value((*victim.detail).*get) : Value(); };
}

// By the kernel's log, or as a signal found it.
auto held_of(std::optional<std::int64_t> OomDetail::*logged, std::int64_t HeldAtEnd::*held) {
  return [=](const OomVictim& victim) {
    if (victim.held) return Value((*victim.held).*held);
    return victim.detail ? Value((*victim.detail).*logged) : Value();
  };
}

// Where somebody else than the kernel killed.
void add_killers(const Incident& incident, Columns<OomVictim>& columns) {
  if (std::ranges::none_of(incident.victims, [](const OomVictim& of) { return of.killer.has_value(); })) return;
  const auto of_killer = [](auto get) {
    return [get](const OomVictim& victim) { return victim.killer ? Value((*victim.killer).*get) : Value(); };
  };
  columns.add({"killer", "BY"}, of_killer(&OomKiller::comm));
  columns.add(for_machines("killer_pid", Kind::count), of_killer(&OomKiller::pid));
  columns.add(for_machines("signal", Kind::count), of_killer(&OomKiller::signal));
  columns.add(for_machines("swap_kib", Kind::size),
              [](const OomVictim& victim) { return victim.held ? Value(victim.held->swap_kib) : Value(); });
}

std::string unit_of(const Incident& incident, const OomVictim& victim) {
  const StoredProcess* const process = process_of(incident, victim);
  return process == nullptr || process->unit.empty() ? victim.cgroup : process->unit;
}

void add_victims(const Incident& incident, Report& report) {
  constexpr std::array scopes{"machine", "cgroup", "nodes"};
  Columns<OomVictim> columns;
  columns.add({"at_ms", "KILLED", Kind::time}, &OomVictim::at_ms);
  columns.add({"pid", "PID", Kind::count}, &OomVictim::pid);
  columns.add({"comm", "NAME"}, &OomVictim::comm);
  columns.add({"held_kib", "SEEN LAST", Kind::size, 4}, &OomVictim::held_kib);
  columns.add({"peak_kib", "PEAK", Kind::size, 1}, &OomVictim::peak_kib);
  columns.add(for_machines("anon_kib", Kind::size), held_of(&OomDetail::anon_kib, &HeldAtEnd::anon_kib));
  columns.add(for_machines("file_kib", Kind::size), held_of(&OomDetail::file_kib, &HeldAtEnd::file_kib));
  columns.add(for_machines("shmem_kib", Kind::size), held_of(&OomDetail::shmem_kib, &HeldAtEnd::shmem_kib));
  columns.add(for_machines("scope"), [&scopes](const OomVictim& victim) {
    return victim.detail ? Value(scopes.at(static_cast<std::size_t>(victim.detail->scope))) : Value();
  });
  columns.add(for_machines("limit_cgroup"), of_detail(&OomDetail::limit_cgroup));
  columns.add({"limit_kib", "LIMIT", Kind::size, 2}, of_detail(&OomDetail::limit_kib));
  columns.add(for_machines("usage_kib", Kind::size), of_detail(&OomDetail::usage_kib));
  columns.add({"invoked_by", "ASKED FOR MORE", Kind::text, 3}, of_detail(&OomDetail::invoked_by));
  columns.add(for_machines("cgroup"), &OomVictim::cgroup);
  columns.add({"unit", "IN"}, [&incident](const OomVictim& victim) { return unit_of(incident, victim); });
  add_killers(incident, columns);
  std::vector<OomVictim> victims = incident.victims;
  if (std::ssize(victims) > kMostVictims) victims.erase(victims.begin(), victims.end() - kMostVictims);
  Section section{"victims", "Whom the OOM killer chose", make_table(columns, victims)};
  if (victims.size() < incident.victims.size())
    section.notes = {fmt::format("{} before these: memoir events.", incident.victims.size() - victims.size())};
  section.table.own_units = true;
  report.sections.push_back(std::move(section));
}

// Who else could have been chosen, as the kernel's log has it.
void add_runners_up(const Incident& incident, Report& report) {
  if (!incident.instant.victim || !incident.instant.victim->detail) return;
  const Columns<OomTask> columns{{{"rss_kib", "RSS", Kind::size}, &OomTask::rss_kib},
                                 {{"swap_kib", "SWAP", Kind::size, 1}, &OomTask::swap_kib},
                                 {{"pid", "PID", Kind::count}, &OomTask::pid},
                                 {{"comm", "NAME"}, &OomTask::comm}};
  report.sections.push_back({"runners_up", "Who else could have been chosen (the kernel's log)",
                             make_table(columns, incident.instant.victim->detail->others)});
}

// The last that ticks saw of who was killed.
Status add_samples(const Context& context, const Incident& incident, Report& report) {
  const StoredProcess* const process =
      incident.instant.victim ? process_of(incident, *incident.instant.victim) : nullptr;
  if (process == nullptr || means_over(incident.before)) return Done{};
  std::vector<Interval> samples;
  TRY(context.reader.history(
      {Tier::raw, SubjectKind::process, process->id, {incident.range.from_ms, incident.instant.at_ms}, {Metric::rss}},
      [&samples](const SubjectInterval& of) {
        if (of.interval.last) samples.push_back(of.interval);
      }));
  if (samples.size() > kMostSamples) samples.erase(samples.begin(), samples.end() - kMostSamples);
  const Columns<Interval> columns{{{"at_ms", "TIME", Kind::time}, &Interval::from_ms},
                                  {{"rss_kib", "RSS", Kind::size}, &Interval::last},
                                  {{"highest_kib", "HIGHEST", Kind::size, 1}, &Interval::max}};
  report.sections.push_back(
      {"samples", fmt::format("The last of {}", identity_title(process->info)), make_table(columns, samples)});
  return Done{};
}

// Where there are many, kills stay, and of the rest those that are nearest to the moment.
void add_events(const Incident& incident, Report& report) {
  std::vector<Event> events = incident.events;
  const auto distance = [&](const Event& event) {
    const bool kill = event.kind == "oom-victim" || event.kind == "oom-kill";
    return std::pair(!kill, std::abs(event.at.wall_ms - incident.instant.at_ms));
  };
  std::ranges::stable_sort(events, {}, distance);
  Section section{"events", "Events", {}};
  if (events.size() > kMostEvents) {
    section.notes = {fmt::format("{} more: memoir events.", events.size() - kMostEvents)};
    events.resize(kMostEvents);
  }
  std::ranges::stable_sort(events, {}, [](const Event& event) { return event.at.wall_ms; });
  section.table = event_table(events);
  report.sections.push_back(std::move(section));
}

Status add_ended(const Context& context, const Incident& incident, Report& report) {
  Ended ended = TRY(load_ended(context.reader, incident.range, Filter()));
  if (ended.kept.size() > kMostEnded) ended.kept.resize(kMostEnded);
  std::vector<EndedProcess> rows;
  TRY(visit_kept(context.reader, ended.kept, Filter(), [&rows](const EndedProcess& of) { rows.push_back(of); }));
  using Row = const EndedProcess&;
  const Columns<EndedProcess> columns{
      {{"peak_kib", "PEAK", Kind::size}, [](Row row) { return row.end.peak_kib; }},
      {{"ended_ms", "ENDED", Kind::time}, [](Row row) { return row.end.ended_ms; }},
      {{"lived_ms", "LIVED", Kind::duration, 2}, [](Row row) { return row.end.lived_ms; }},
      {{"how", "HOW"}, [](Row row) { return how_ended(row.end.exit_code); }},
      {{"pid", "PID", Kind::count, 1}, [](Row row) { return row.process.info.key.pid; }},
      {{"command", "COMMAND"}, [](Row row) { return shown_command(row.process.info, '?'); }}};
  Section section{"ended", "What ended in that time, the largest peak first", make_table(columns, rows)};
  section.table.own_units = true;
  for (const std::string& missing : ends_missing(ended.told)) section.notes.push_back(missing);
  report.sections.push_back(std::move(section));
  return Done{};
}

// Marks are kept by UTC days: what was reached later on the day, and is higher, hides one.
Status add_peaks(const Context& context, const Incident& incident, Report& report) {
  const Range range = incident.range;
  const ProcessMarks highest = TRY(context.reader.process_marks(range, range, Metric::hwm, kMostPeaks));
  const std::vector<StoredProcess> processes = TRY(processes_of(context.reader, highest));
  struct Reached {
    HighWater mark;
    const StoredProcess* process = nullptr;
  };
  std::vector<Reached> rows;
  for (const HighWater& mark : highest.marks) {
    const auto process = std::ranges::find(processes, mark.subject_id, &StoredProcess::id);
    if (process != processes.end() && !stood(mark)) rows.push_back({mark, &*process});
  }
  using Row = const Reached&;
  Columns<Reached> columns{{{"peak_kib", "PEAK", Kind::size}, [](Row row) { return row.mark.value_kib; }}};
  add_reached(columns, [](Row row) -> const HighWater& { return row.mark; }, {0, 2, 3});
  columns.add({"pid", "PID", Kind::count, 1}, [](Row row) { return row.process->info.key.pid; });
  columns.add({"command", "COMMAND"}, [](Row row) { return shown_command(row.process->info, '?'); });
  Section section{"peaks", "The highest marks that were reached in that time (VmHWM)", make_table(columns, rows)};
  section.table.own_units = true;
  report.sections.push_back(std::move(section));
  return Done{};
}

void add_limits(const Incident& incident, Report& report) {
  const Columns<Limit> columns{
      {{"used_percent", "USED", Kind::percent}, &Limit::percent},
      {{"current_kib", "HOLDS", Kind::size}, [](const Limit& limit) { return limit.cgroup.current_kib; }},
      {{"max_kib", "LIMIT", Kind::size}, [](const Limit& limit) { return limit.cgroup.max_kib; }},
      {{"cgroup", "CGROUP"}, [](const Limit& limit) { return limit.cgroup.path; }}};
  Section section{"limits", "The nearest limits", make_table(columns, nearest_limits(incident.at))};
  section.table.own_units = true;
  report.sections.push_back(std::move(section));
}

}  // namespace

Status add_evidence(const Context& context, const Incident& incident, Report& report) {
  TRY(add_around(context, incident, report));
  add_victims(incident, report);
  TRY(add_samples(context, incident, report));
  add_runners_up(incident, report);
  add_events(incident, report);
  TRY(add_charts(context, incident, report));
  TRY(add_peaks(context, incident, report));
  TRY(add_ended(context, incident, report));
  add_limits(incident, report);
  return Done{};
}

}  // namespace memoir::query
