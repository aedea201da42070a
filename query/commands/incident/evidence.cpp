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
#include "query/state/tmpfs.h"

namespace memoir::query {
namespace {

constexpr std::size_t kMaxEvents = 20;
constexpr std::ptrdiff_t kMaxVictims = 100;
constexpr std::size_t kMaxExits = 8;
constexpr std::size_t kMaxPeaks = 8;
constexpr std::size_t kMaxLimits = 5;
constexpr std::size_t kMaxSamples = 8;

struct Limit {
  CgroupSample cgroup;
  double percent = 0;
};

// Returns the limits of the other cgroups, the nearest first.
std::vector<Limit> nearest_limits(const Incident& incident) {
  std::vector<Limit> limits;
  for (const CgroupSample& cgroup : incident.at.cgroups.value_or(std::vector<CgroupSample>())) {
    if (cgroup.max_kib.value_or(0) <= 0 || (incident.scope && cgroup.path == incident.scope->cgroup)) continue;
    limits.push_back({cgroup, 100.0 * static_cast<double>(cgroup.current_kib) / static_cast<double>(*cgroup.max_kib)});
  }
  std::ranges::stable_sort(limits, std::ranges::greater(), &Limit::percent);
  if (limits.size() > kMaxLimits) limits.resize(kMaxLimits);
  return limits;
}

std::string pressure_line(const Incident& incident, Zone zone) {
  if (!incident.worst) return "Pressure   not recorded";
  if (incident.worst->some_percent < 0.05) return "Pressure   none";
  return fmt::format("Pressure   some {}, full {} at the worst ({} to {})",
                     format_percent(incident.worst->some_percent), format_percent(incident.worst->full_percent),
                     clock_time(incident.worst->from_ms, zone), clock_time(incident.worst->until_ms, zone));
}

std::string swap_line(const Incident& incident, Units units) {
  const MachineMemory& was = incident.before.machine.memory;
  const MachineMemory& is = incident.at.machine.memory;
  const auto used = swap_used_kib(is);
  if (is.get(MachineField::swap_total).value_or(0) == 0) return "Swap       none on this machine";
  if (!used) return "Swap       unknown";
  const std::int64_t change = *used - swap_used_kib(was).value_or(*used);
  return fmt::format("Swap       {} of {} in use{}", format_size(*used, units),
                     format_size(is.or_zero(MachineField::swap_total), units),
                     change == 0 ? "" : fmt::format(", {}", format_change(change, units)));
}

// ", 2 processes by systemd-oomd, 1 process by earlyoom"
std::string other_killers(const Incident& incident) {
  std::map<std::string, std::int64_t> kills;
  for (const OomVictim& victim : incident.victims) {
    if (victim.killer && victim.killed()) ++kills[to_printable(victim.killer->comm)];
  }
  std::string text;
  for (const auto& [killer, count] : kills)
    text += fmt::format(", {} by {}", format_count(count, "process", "processes"), killer);
  return text;
}

std::string death_line(const Incident& incident) {
  const auto reported = std::ranges::count_if(incident.victims, [](const OomVictim& of) { return !of.killer; });
  const auto by_others =
      std::ranges::count_if(incident.victims, [](const OomVictim& of) { return of.killer && of.killed(); });
  const std::int64_t kills = std::max(reported, incident.counted_kills.value_or(0) - by_others);
  std::string line = kills == 0
                         ? "Killed     none by the OOM killer"
                         : fmt::format("Killed     {} by the OOM killer", format_count(kills, "process", "processes"));
  if (kills > reported) line += fmt::format(", {} without a record of the victim", kills - reported);
  return line + fmt::format("{}; {} restarted", other_killers(incident),
                            incident.scope ? incident.scope->restarts : incident.restarts);
}

// Describes the machine in one line, for an incident of a cgroup.
std::string machine_line(const Incident& incident, Units units) {
  const MachineMemory& at = incident.at.machine.memory;
  const auto total = at.get(MachineField::mem_total);
  if (!incident.machine.at_kib) return "Machine    unknown";
  return fmt::format(
      "Machine    {}{} in use, {}; {} available", format_size(*incident.machine.at_kib, units),
      total ? " of " + format_size(*total, units) : "", format_change(incident.machine.change_kib, units),
      at.get(MachineField::mem_available) ? format_size(at.or_zero(MachineField::mem_available), units) : "unknown");
}

std::string scope_swap(const Incident& incident, Units units) {
  const auto& sample = incident.scope ? incident.scope->at : std::nullopt;
  if (!sample || !sample->swap_kib || incident.at.machine.memory.or_zero(MachineField::swap_total) == 0) return {};
  return fmt::format("; of {} {}{}", incident.scope->place, format_size(*sample->swap_kib, units),
                     sample->swap_max_kib ? " of " + format_size(*sample->swap_max_kib, units) : "");
}

std::string tmpfs_line(const Incident& incident, Units units) {
  std::string line;
  for (const TmpfsAt& mount : incident.full_tmpfs) {
    const TmpfsSample& of = mount.sample;
    line += fmt::format("{}{} {} of {}", line.empty() ? "tmpfs      " : ", ", to_printable(of.mount_point),
                        format_size(of.used_kib.value_or(0), units), format_size(of.limit_kib.value_or(0), units));
  }
  return line;
}

std::string limit_line(const Incident& incident, Units units) {
  const std::vector<Limit> limits = nearest_limits(incident);
  if (limits.empty())
    return incident.scope ? "Limits     no other cgroup has a limit" : "Limits     no cgroup has a limit";
  std::string line = "Limits     ";
  for (std::size_t i = 0; i < std::min<std::size_t>(limits.size(), 2); ++i) {
    const Limit& limit = limits[i];
    line += fmt::format("{}{} {} of {}", i == 0 ? "" : "; next ", place_name(limit.cgroup.path, incident.containers),
                        format_size(limit.cgroup.current_kib, units), format_size(*limit.cgroup.max_kib, units));
  }
  return line;
}

// ", burst mode from 03:12:31"
std::string burst_words(const Incident& incident, Zone zone) {
  const auto burst = std::ranges::find_if(
      incident.events, [](const Event& event) { return event.kind == "burst" && event.text.starts_with("Started"); });
  return burst == incident.events.end() ? "" : fmt::format(", burst mode from {}", clock_time(burst->at.wall_ms, zone));
}

Result<std::string> seen_line(const Context& context, const Incident& incident) {
  std::int64_t scans = 0;
  std::int64_t count = 0;
  std::int64_t reported = 0;
  std::int64_t lost = 0;
  for (const StoredTick& tick : TRY(context.reader.ticks(incident.range))) {
    ++count;
    scans += tick.scans ? tick.scans->count : 0;
    reported += tick.events ? 1 : 0;
    lost += tick.events ? tick.events->lost : 0;
  }
  const std::string events = reported == 0 ? "processes between ticks unknown"
                             : lost == 0   ? "no process events lost"
                                           : format_count(lost, "process event lost", "process events lost");
  return fmt::format("Coverage   {}, {}{}; {}", format_count(count, "tick", "ticks"),
                     format_count(scans, "scan", "scans"), burst_words(incident, context.options.zone), events);
}

Status add_around(const Context& context, const Incident& incident, Report& report) {
  const Options& options = context.options;
  Section around{"around", "Context", {}};
  const std::string seen = TRY(seen_line(context, incident));
  if (incident.scope) around.notes.push_back(machine_line(incident, options.units));
  around.notes.push_back(pressure_line(incident, options.zone));
  around.notes.push_back(swap_line(incident, options.units) + scope_swap(incident, options.units));
  around.notes.push_back(death_line(incident));
  around.notes.push_back(limit_line(incident, options.units));
  if (const std::string tmpfs = tmpfs_line(incident, options.units); !tmpfs.empty()) around.notes.push_back(tmpfs);
  around.notes.push_back(seen);
  if (options.format == Format::table) {
    around.notes.push_back(fmt::format("More       memoir incident --at @{} --format html", incident.instant.at_ms));
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

// Returns the value recorded at the signal, or else the value in the kernel log.
auto held_of(std::optional<std::int64_t> OomDetail::*logged, std::int64_t MemoryAtExit::*held) {
  return [=](const OomVictim& victim) {
    if (victim.held) return Value((*victim.held).*held);
    return victim.detail ? Value((*victim.detail).*logged) : Value();
  };
}

// Adds the columns of user-space killers, if there was one.
void add_killers(const Incident& incident, Columns<OomVictim>& columns) {
  if (std::ranges::none_of(incident.victims, [](const OomVictim& of) { return of.killer.has_value(); })) return;
  const auto of_killer = [](auto get) {
    return [get](const OomVictim& victim) { return victim.killer ? Value((*victim.killer).*get) : Value(); };
  };
  columns.add({"killer", "BY"}, of_killer(&OomKiller::comm));
  columns.add(data_column("killer_pid", Kind::count), of_killer(&OomKiller::pid));
  columns.add(data_column("signal", Kind::count), of_killer(&OomKiller::signal));
  columns.add(data_column("swap_kib", Kind::size),
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
  columns.add({"held_kib", "LAST RSS", Kind::size, 4}, &OomVictim::held_kib);
  columns.add({"peak_kib", "PEAK", Kind::size, 1}, &OomVictim::peak_kib);
  columns.add(data_column("anon_kib", Kind::size), held_of(&OomDetail::anon_kib, &MemoryAtExit::anon_kib));
  columns.add(data_column("file_kib", Kind::size), held_of(&OomDetail::file_kib, &MemoryAtExit::file_kib));
  columns.add(data_column("shmem_kib", Kind::size), held_of(&OomDetail::shmem_kib, &MemoryAtExit::shmem_kib));
  columns.add(data_column("scope"), [&scopes](const OomVictim& victim) {
    return victim.detail ? Value(scopes.at(static_cast<std::size_t>(victim.detail->scope))) : Value();
  });
  columns.add(data_column("limit_cgroup"), of_detail(&OomDetail::limit_cgroup));
  columns.add({"limit_kib", "LIMIT", Kind::size, 2}, of_detail(&OomDetail::limit_kib));
  columns.add(data_column("usage_kib", Kind::size), of_detail(&OomDetail::usage_kib));
  columns.add({"invoked_by", "INVOKED BY", Kind::text, 3}, of_detail(&OomDetail::invoked_by));
  columns.add(data_column("cgroup"), &OomVictim::cgroup);
  columns.add({"unit", "IN"}, [&incident](const OomVictim& victim) { return unit_of(incident, victim); });
  add_killers(incident, columns);
  std::vector<OomVictim> victims = incident.victims;
  if (std::ssize(victims) > kMaxVictims) victims.erase(victims.begin(), victims.end() - kMaxVictims);
  Section section{"victims", "OOM victims", make_table(columns, victims)};
  if (victims.size() < incident.victims.size())
    section.notes = {
        fmt::format("{} earlier victims: memoir events lists them.", incident.victims.size() - victims.size())};
  section.table.own_units = true;
  report.sections.push_back(std::move(section));
}

// Adds the other processes that the kernel log lists as candidates for the kill.
void add_runners_up(const Incident& incident, Report& report) {
  if (!incident.instant.victim || !incident.instant.victim->detail) return;
  const Columns<OomTask> columns{{{"rss_kib", "RSS", Kind::size}, &OomTask::rss_kib},
                                 {{"swap_kib", "SWAP", Kind::size, 1}, &OomTask::swap_kib},
                                 {{"pid", "PID", Kind::count}, &OomTask::pid},
                                 {{"comm", "NAME"}, &OomTask::comm}};
  report.sections.push_back(
      {"runners_up", "Other candidates (kernel log)", make_table(columns, incident.instant.victim->detail->others)});
}

// Adds the last samples of the victim.
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
  if (samples.size() > kMaxSamples) samples.erase(samples.begin(), samples.end() - kMaxSamples);
  const Columns<Interval> columns{{{"at_ms", "TIME", Kind::time}, &Interval::from_ms},
                                  {{"rss_kib", "RSS", Kind::size}, &Interval::last},
                                  {{"highest_kib", "HIGHEST", Kind::size, 1}, &Interval::max}};
  report.sections.push_back(
      {"samples", fmt::format("Last samples of {}", program_title(*process)), make_table(columns, samples)});
  return Done{};
}

// Adds events. If there are many, keeps the kills, and then the events nearest to the incident.
void add_events(const Incident& incident, Report& report) {
  std::vector<Event> events = incident.events;
  const auto distance = [&](const Event& event) {
    const bool kill = event.kind == "oom-victim" || event.kind == "oom-kill";
    return std::pair(!kill, std::abs(event.at.wall_ms - incident.instant.at_ms));
  };
  std::ranges::stable_sort(events, {}, distance);
  Section section{"events", "Events", {}};
  if (events.size() > kMaxEvents) {
    section.notes = {fmt::format("{} more: memoir events lists them.", events.size() - kMaxEvents)};
    events.resize(kMaxEvents);
  }
  std::ranges::stable_sort(events, {}, [](const Event& event) { return event.at.wall_ms; });
  section.table = event_table(events);
  report.sections.push_back(std::move(section));
}

Status add_exited(const Context& context, const Incident& incident, Report& report) {
  Exited ended = TRY(load_exited(context.reader, incident.range, Filter()));
  if (ended.kept.size() > kMaxExits) ended.kept.resize(kMaxExits);
  std::vector<ExitedProcess> rows;
  TRY(visit_kept(context.reader, ended.kept, Filter(), [&rows](const ExitedProcess& of) { rows.push_back(of); }));
  using Row = const ExitedProcess&;
  const Columns<ExitedProcess> columns{
      {{"peak_kib", "PEAK", Kind::size}, [](Row row) { return row.record.peak_kib; }},
      {{"ended_ms", "ENDED", Kind::time}, [](Row row) { return row.record.exited_ms; }},
      {{"lived_ms", "LIFETIME", Kind::duration, 2}, [](Row row) { return row.record.lived_ms; }},
      {{"how", "HOW"}, [](Row row) { return format_exit_status(row.record.exit_code); }},
      {{"pid", "PID", Kind::count, 1}, [](Row row) { return row.process.info.key.pid; }},
      {{"command", "COMMAND"}, [](Row row) { return shown_command(row.process.info, '?'); }}};
  Section section{"ended", "Exited processes, by peak", make_table(columns, rows)};
  section.table.own_units = true;
  for (const std::string& missing : exit_gaps(ended.totals)) section.notes.push_back(missing);
  report.sections.push_back(std::move(section));
  return Done{};
}

// Adds the peaks reached. Marks are kept per UTC day: a higher mark later on that day hides a mark of the incident.
Status add_peaks(const Context& context, const Incident& incident, Report& report) {
  const Range range = incident.range;
  const ProcessMarks highest = TRY(context.reader.process_marks(range, range, Metric::hwm, kMaxPeaks));
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
  Section section{"peaks", "Peaks reached (VmHWM)", make_table(columns, rows)};
  section.table.own_units = true;
  report.sections.push_back(std::move(section));
  return Done{};
}

void add_limits(const Incident& incident, Report& report) {
  const Columns<Limit> columns{
      {{"used_percent", "USED", Kind::percent}, &Limit::percent},
      {{"current_kib", "USAGE", Kind::size}, [](const Limit& limit) { return limit.cgroup.current_kib; }},
      {{"max_kib", "LIMIT", Kind::size}, [](const Limit& limit) { return limit.cgroup.max_kib; }},
      {{"cgroup", "CGROUP"}, [](const Limit& limit) { return limit.cgroup.path; }}};
  Section section{"limits", incident.scope ? "Other groups, nearest to their limit" : "Groups nearest to their limit",
                  make_table(columns, nearest_limits(incident))};
  section.table.own_units = true;
  report.sections.push_back(std::move(section));
}

// Adds the nearly full mounts and their largest entries.
void add_tmpfs(const Incident& incident, Report& report) {
  constexpr std::size_t max_entries = 8;
  struct MountEntry {
    const TmpfsSample* mount = nullptr;
    const TmpfsEntry* entry = nullptr;  // nullptr: the mount itself
  };
  std::vector<MountEntry> rows;
  for (const TmpfsAt& mount : incident.full_tmpfs) {
    rows.push_back({&mount.sample, nullptr});
    for (const TmpfsEntry* const entry : largest_entries(mount, max_entries)) rows.push_back({&mount.sample, entry});
  }
  using Row = const MountEntry&;
  const Columns<MountEntry> columns{
      {{"usage_kib", "USAGE", Kind::size},
       [](Row row) { return row.entry != nullptr ? Value(row.entry->allocated_kib) : Value(row.mount->used_kib); }},
      {{"limit_kib", "LIMIT", Kind::size},
       [](Row row) { return row.entry == nullptr ? row.mount->limit_kib : Value(); }},
      {data_column("mount_point"), [](Row row) { return row.mount->mount_point; }},
      {{"path", "PATH"},
       [](Row row) { return row.entry != nullptr ? full_path(*row.mount, *row.entry) : row.mount->mount_point; }}};
  Section section{"tmpfs", "Nearly full tmpfs mounts and their largest entries", make_table(columns, rows)};
  section.table.own_units = true;
  report.sections.push_back(std::move(section));
}

}  // namespace

std::vector<const TmpfsEntry*> largest_entries(const TmpfsAt& mount, std::size_t most) {
  std::vector<const TmpfsEntry*> entries;
  for (const TmpfsEntryAt& of : mount.entries) {
    if (!of.entry.path.empty()) entries.push_back(&of.entry);
  }
  std::ranges::stable_sort(entries, std::greater(), [](const TmpfsEntry* entry) { return entry->allocated_kib; });
  entries.resize(std::min(entries.size(), most));
  return entries;
}

Status add_evidence(const Context& context, const Incident& incident, Report& report) {
  TRY(add_around(context, incident, report));
  const std::size_t printed = report.sections.size();  // sections so far, which are on the printed page
  add_victims(incident, report);
  TRY(add_samples(context, incident, report));
  add_runners_up(incident, report);
  add_events(incident, report);
  TRY(add_charts(context, incident, report));
  TRY(add_peaks(context, incident, report));
  TRY(add_exited(context, incident, report));
  add_limits(incident, report);
  add_tmpfs(incident, report);
  for (std::size_t i = printed; i < report.sections.size(); ++i) report.sections[i].printed = false;
  return Done{};
}

}  // namespace memoir::query
