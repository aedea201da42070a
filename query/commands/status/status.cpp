// memoir status: the state of the recorder, and the cost of recording.

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "query/history/event_table.h"
#include "query/history/recorder_status.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/limit.h"

namespace memoir::query {

namespace {

std::string held_text(const RecorderStatus& status) {
  return status.holder.empty() ? "" : fmt::format(": {} locks {}-shm", status.holder, to_printable(status.file.path));
}

std::string gaps_text(const RecorderStatus& status) {
  if (!status.day || status.day->gaps.empty()) return "";
  return fmt::format("; {} in the last day",
                     format_count(static_cast<std::int64_t>(status.day->gaps.size()), "gap", "gaps"));
}

// Omits the time of the last tick, which is in the line below.
std::string state_line(const RecorderStatus& status) {
  if (status.recording == Recording::never) return "nothing recorded yet";
  const std::string pid = status.file.recorder_pid ? fmt::format(", pid {}", *status.file.recorder_pid) : std::string();
  if (status.runs.empty()) return "starting" + pid;
  const StoredRun& run = status.runs.back();
  const std::string every = format_span(run.interval_ms);
  const std::int64_t heard_ms = run.last_tick_ms.value_or(run.started_ms);
  switch (status.recording) {
    case Recording::active:
      if (!status.holder.empty()) return fmt::format("BLOCKED: the recorder cannot write{}{}", pid, held_text(status));
      return fmt::format("recording every {}{}{}", every, pid, gaps_text(status));
    case Recording::late:
      return fmt::format("LATE: running{}, nothing written for {}{}", pid, format_span(status.now_ms - heard_ms),
                         held_text(status));
    case Recording::stopped:
      return run.stop_reason == "stopped" ? "stopped" : fmt::format("stopped ({})", to_printable(run.stop_reason));
    case Recording::died:
    case Recording::never:
      break;
  }
  return "NOT RECORDING: the recorder crashed";
}

Tone tone_of(Recording recording) {
  if (recording == Recording::late) return Tone::warning;
  return recording == Recording::active || recording == Recording::stopped ? Tone::plain : Tone::problem;
}

std::string tick_line(const StoredTick& tick, std::int64_t now_ms, Zone zone) {
  const TickCounts& counts = tick.counts;
  return fmt::format("{}, {} ago: {}, {}", format_time(tick.begin.wall_ms, zone),
                     format_span(std::max<std::int64_t>(now_ms - tick.begin.wall_ms, 0)),
                     format_count(counts.seen, "process", "processes"),
                     format_count(counts.kernel_threads, "kernel thread", "kernel threads"));
}

std::string process_line(const Activity& activity) {
  return fmt::format("{} started and {} exited within the last day", activity.started, activity.exited);
}

std::string trouble_line(const TickCounts& counts) {
  return fmt::format("{} denied, {} blocked, {} malformed, {}", counts.denied, counts.blocked, counts.malformed,
                     format_count(counts.zombies, "zombie", "zombies"));
}

std::string growth_text(const RecorderStatus& status, const Growth& growth, Units units) {
  if (!growth.bytes_per_day) return fmt::format("growth unknown yet (after {})", format_span(status.recorded_ms));
  if (growth.measured_days == 0) {
    return fmt::format("{} a day (from {} of recording)", format_size(*growth.bytes_per_day / 1024, units),
                       format_span(status.recorded_ms));
  }
  const std::string measured = fmt::format("over {}", format_count(growth.measured_days, "day", "days"));
  if (*growth.bytes_per_day <= 0) return fmt::format("no growth ({})", measured);
  return fmt::format("{} a day ({})", format_size(*growth.bytes_per_day / 1024, units), measured);
}

std::string cap_text(const FileInfo& file, const Growth& growth, Units units) {
  if (file.max_bytes == 0) return "";
  const std::string cap = format_size(file.max_bytes / 1024, units);
  // Retention keeps space for the next ticks: the cap is never quite reached.
  if (file.bytes >= file.max_bytes / 100 * 90)
    return fmt::format("; at its {} cap, the oldest data expires early", cap);
  if (!growth.days_left) return fmt::format("; cap {}", cap);
  return fmt::format("; cap {}, reached in {} {}", cap, growth.filling ? "at least" : "about",
                     format_count(*growth.days_left, "day", "days"));
}

std::string file_line(const RecorderStatus& status, Units units) {
  const Growth growth = growth_of(status.file, status.recorded_ms);
  return fmt::format("{}, {}{}", format_size(status.file.bytes / 1024, units), growth_text(status, growth, units),
                     cap_text(status.file, growth, units));
}

std::string runs_line(const RecorderStatus& status) {
  return fmt::format("{}; last day: {}, {}", status.runs.size(), format_count(status.restarts, "restart", "restarts"),
                     format_count(status.unclean_ends, "unclean stop", "unclean stops"));
}

std::string cost_line(const TickCosts& costs) {
  return fmt::format("{:.1f} ms CPU per tick (p95 {:.1f}), {:.2f}% of a core", costs.mean_cpu_us.value_or(0) / 1000,
                     static_cast<double>(costs.p95_cpu_us.value_or(0)) / 1000, costs.core_percent.value_or(0));
}

// Returns the CPU time of a tick by kind, and further costs.
std::vector<std::string> kinds_lines(const TickCosts& costs) {
  const auto ms = [&costs](CostKind kind) { return costs.of(kind) / 1000; };
  std::string last = fmt::format("elapsed {:.1f} ms", costs.mean_wall_us / 1000);
  if (costs.storing_us) last += fmt::format(", plus {:.1f} ms CPU for storage", *costs.storing_us / 1000);
  return {fmt::format("counters {:.1f} ms, PSS and mappings {:.1f} ms,", ms(CostKind::list) + ms(CostKind::status),
                      ms(CostKind::rollup)),
          fmt::format("machine, cgroups and tmpfs {:.1f} ms, new processes {:.1f} ms;", ms(CostKind::machine),
                      ms(CostKind::identity)),
          std::move(last)};
}

// Returns two lines: the sources of PSS, and the cost of reading it on demand.
std::vector<std::string> reading_lines(const ReadSummary& reads) {
  std::vector<std::string> lines{fmt::format("PSS per tick: {:.1f} read, {:.1f} held, {:.1f} estimated", reads.exact,
                                             reads.held, reads.estimated)};
  std::string more = fmt::format("longest read {:.1f} ms", static_cast<double>(reads.longest_us) / 1000);
  if (reads.error_percent) more += fmt::format("; estimate error {:.1f}%", *reads.error_percent);
  if (reads.deferred > 0) more += fmt::format("; {:.1f} deferred by the CPU budget", reads.deferred);
  lines.push_back(std::move(more));
  return lines;
}

std::optional<std::string> memory_line(const RecorderStatus& status, Units units) {
  if (!status.itself) return std::nullopt;
  const ProcessMemory& memory = status.itself->sample.memory;
  const auto resident = memory.get(ProcessField::vm_rss);
  const auto mark = high_water_kib(memory);
  if (!resident || !mark) return std::nullopt;
  return fmt::format("{} resident, peak {}", format_size(*resident, units), format_size(*mark, units));
}

std::string heap_line(const RecorderMemory& memory, Units units) {
  const auto size = [units](std::int64_t kib) { return format_size(kib, units); };
  return fmt::format("heap {} = ready {} (data {}, fragmentation {}, idle {}) + prepared {}", size(memory.total_kib()),
                     size(memory.ready_kib()), size(memory.data_kib), size(memory.fragmentation_kib),
                     size(memory.idle_kib), size(memory.prepared_kib));
}

// If BPF is not used, the reason is listed among the degraded features.
std::string census_line(std::string_view census) {
  if (census == "bpf") return "BPF, all processes in one pass";
  return "/proc, some fields up to 2 min old";
}

std::string scans_line(const TickCosts& costs) {
  return fmt::format("{:.1f} per tick, {:.2f} ms CPU each, longest {:.1f} ms", costs.scans, costs.scan_us / 1000,
                     static_cast<double>(costs.longest_scan_us) / 1000);
}

// The recorder does not report a degraded feature if only a few processes cannot be read.
std::string degraded_line(const RecorderStatus& status) {
  const std::int64_t denied = status.tick ? status.tick->counts.denied : 0;
  if (denied == 0) return "nothing";
  return fmt::format("nothing, except {} without permission: RSS is used as PSS",
                     format_count(denied, "process", "processes"));
}

std::string burst_line(const RecorderStatus& status, Zone zone) {
  std::string line = fmt::format("{} in the last day (memoir events --kind burst)", status.bursts);
  if (!status.burst) return line;
  const std::string why = to_printable(status.burst->text.substr(std::string_view("Started: ").size()));
  return fmt::format("{}; one is active since {}: {}", line, format_time_of_day(status.burst->at.wall_ms, zone), why);
}

std::vector<std::string> lines_for_people(const RecorderStatus& status, const Options& options) {
  std::vector<std::string> lines;
  const auto add = [&](std::string_view label, const std::string& text) {
    lines.push_back(fmt::format("{:<10} {}", label, text));
  };
  if (status.tick) {
    add("Last tick", tick_line(*status.tick, status.now_ms, options.zone));
    add("", trouble_line(status.tick->counts));
  }
  add("Runs", runs_line(status));
  add("File", to_printable(status.file.path));
  add("", file_line(status, options.units));
  if (status.tick) add("Cost", cost_line(status.costs));
  if (status.costs.has_kinds())
    for (const std::string& line : kinds_lines(status.costs)) add("", line);
  if (status.reads) {
    std::string label = "Reading";
    for (const std::string& line : reading_lines(*status.reads)) add(std::exchange(label, ""), line);
  }
  if (const auto memory = memory_line(status, options.units)) add("Memory", *memory);
  if (status.memory) add("", heap_line(*status.memory, options.units));
  if (!status.runs.empty() && !status.runs.back().census.empty()) add("Census", census_line(status.runs.back().census));
  if (status.costs.scans > 0) add("Scans", scans_line(status.costs));
  if (status.activity) add("Processes", process_line(*status.activity));
  if (const auto kills = status.activity ? status.activity->oom_kills : std::nullopt; kills.value_or(0) > 0)
    add("OOM kills", fmt::format("{} in the last day (memoir events --kind oom-kill)", *kills));
  if (status.bursts > 0) add("Bursts", burst_line(status, options.zone));
  if (status.degraded.empty()) add("Degraded", degraded_line(status));
  return lines;
}

std::vector<std::string> gap_lines(const RecorderStatus& status, Zone zone) {
  constexpr std::size_t most = 5;
  // If there is only one gap, the coverage line already describes it.
  if (!status.day || status.day->gaps.size() < 2) return {};
  std::vector<Gap> gaps = status.day->gaps;
  std::ranges::stable_sort(gaps, [](const Gap& a, const Gap& b) { return a.to_ms - a.from_ms > b.to_ms - b.from_ms; });
  if (gaps.size() > most) gaps.resize(most);
  std::ranges::sort(gaps, {}, &Gap::from_ms);
  return transformed(gaps, [zone](const Gap& gap) {
    return fmt::format("Gap        {} to {}, {}: {}", format_time(gap.from_ms, zone),
                       format_time_of_day(gap.to_ms, zone), format_span(gap.to_ms - gap.from_ms),
                       to_printable(gap.reason));
  });
}

void add_tick_fields(const StoredTick& tick, std::vector<Field>& fields) {
  const TickCounts& counts = tick.counts;
  fields.push_back({"last_tick_ms", "", Kind::time, tick.begin.wall_ms});
  fields.push_back({"processes", "", Kind::count, counts.seen});
  fields.push_back({"kernel_threads", "", Kind::count, counts.kernel_threads});
  fields.push_back({"zombies", "", Kind::count, counts.zombies});
  fields.push_back({"denied", "", Kind::count, counts.denied});
  fields.push_back({"blocked", "", Kind::count, counts.blocked});
  fields.push_back({"malformed", "", Kind::count, counts.malformed});
}

void add_memory_fields(const RecorderMemory& memory, std::vector<Field>& fields) {
  for (const auto& [name, kib] : {std::pair{"total", memory.total_kib()},
                                  {"ready", memory.ready_kib()},
                                  {"data", memory.data_kib},
                                  {"fragmentation", memory.fragmentation_kib},
                                  {"idle", memory.idle_kib},
                                  {"prepared", memory.prepared_kib},
                                  {"sqlite", memory.sqlite_kib}}) {
    fields.push_back({fmt::format("recorder_{}_kib", name), "", Kind::size, kib});
  }
}

void add_read_fields(const ReadSummary& reads, std::vector<Field>& fields) {
  fields.push_back({"pss_read_per_tick", "", Kind::count, reads.exact});
  fields.push_back({"pss_held_per_tick", "", Kind::count, reads.held});
  fields.push_back({"pss_estimated_per_tick", "", Kind::count, reads.estimated});
  fields.push_back({"pss_deferred_per_tick", "", Kind::count, reads.deferred});
  fields.push_back({"longest_reading_us", "", Kind::count, reads.longest_us});
  fields.push_back({"estimates_error_percent", "", Kind::percent, reads.error_percent});
}

// Adds the cost of a tick by kind.
void add_cost_fields(const TickCosts& costs, std::vector<Field>& fields) {
  fields.push_back({"wall_us_per_tick", "", Kind::count, costs.mean_wall_us});
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    const std::string_view name = to_string(static_cast<CostKind>(kind));
    fields.push_back({fmt::format("cpu_us_per_tick_{}", name), "", Kind::count, costs.kinds.at(kind)});
    fields.push_back({fmt::format("wall_us_per_tick_{}", name), "", Kind::count, costs.kinds_wall.at(kind)});
  }
}

std::vector<Field> fields_for_machines(const RecorderStatus& status) {
  const StoredRun* run = status.runs.empty() ? nullptr : &status.runs.back();
  const ProcessMemory memory = status.itself ? status.itself->sample.memory : ProcessMemory();
  const bool recording = status.recording == Recording::active || status.recording == Recording::late;
  const auto pid = status.file.recorder_pid;
  const Growth growth = growth_of(status.file, status.recorded_ms);
  const auto activity = [&status](auto count) { return status.activity ? Value((*status.activity).*count) : Value(); };
  std::vector<Field> fields{
      {"recording", "", Kind::text, recording},
      {"state", "", Kind::text, std::string(to_string(status.recording))},
      {"recorder_pid", "", Kind::count, pid},
      {"blocked_by_pid", "", Kind::count, status.file.held_by},
      {"interval_ms", "", Kind::duration, run != nullptr ? run->interval_ms : Value()},
      {"census", "", Kind::text, run != nullptr && !run->census.empty() ? run->census : Value()},
      {"runs", "", Kind::count, status.runs.size()},
      {"restarts", "", Kind::count, status.restarts},
      {"unclean_ends", "", Kind::count, status.unclean_ends},
      {"oom_kills", "", Kind::count, activity(&Activity::oom_kills)},
      {"processes_started", "", Kind::count, activity(&Activity::started)},
      {"processes_exited", "", Kind::count, activity(&Activity::exited)},
      {"processes_alive", "", Kind::count, activity(&Activity::alive)},
      {"bursts", "", Kind::count, status.bursts},
      {"burst_since_ms", "", Kind::time, status.burst ? Value(status.burst->at.wall_ms) : Value()},
      {"schema", "", Kind::count, status.file.schema},
      {"ticks", "", Kind::count, status.file.ticks},
      {"first_tick_ms", "", Kind::time, status.file.ticks > 0 ? status.file.first_tick_ms : Value()},
      {"recorded_ms", "", Kind::duration, status.recorded_ms},
      {"file_bytes", "", Kind::count, status.file.bytes},
      {"file_bytes_per_day", "", Kind::count, growth.bytes_per_day},
      {"file_bytes_max", "", Kind::count, status.file.max_bytes > 0 ? status.file.max_bytes : Value()},
      {"file_bytes_max_in_days", "", Kind::count, growth.days_left},
      {"cpu_us_per_tick", "", Kind::count, status.costs.mean_cpu_us},
      {"cpu_us_per_tick_p95", "", Kind::count, status.costs.p95_cpu_us},
      {"core_percent", "", Kind::percent, status.costs.core_percent},
      {"storing_cpu_us_per_tick", "", Kind::count, status.costs.storing_us},
      {"scans_per_tick", "", Kind::count, status.costs.scans},
      {"cpu_us_per_scan", "", Kind::count, status.costs.scan_us},
      {"longest_scan_us", "", Kind::count, status.costs.longest_scan_us},
      {"recorder_rss_kib", "", Kind::size, memory.get(ProcessField::vm_rss)},
      {"recorder_pss_kib", "", Kind::size, memory.get(ProcessField::pss)},
      {"recorder_hwm_kib", "", Kind::size, high_water_kib(memory)},
  };
  if (status.memory) add_memory_fields(*status.memory, fields);
  if (status.tick) add_tick_fields(*status.tick, fields);
  if (status.reads) add_read_fields(*status.reads, fields);
  if (status.costs.has_kinds()) add_cost_fields(status.costs, fields);
  return fields;
}

// Returns the latest runs.
Table run_table(const RecorderStatus& status, std::size_t shown) {
  const Columns<StoredRun> columns{
      {{"started_ms", "STARTED", Kind::time}, &StoredRun::started_ms},
      {{"last_tick_ms", "LAST TICK", Kind::time}, &StoredRun::last_tick_ms},
      {{"ended_ms", "ENDED", Kind::time, 0, Shown::machines}, &StoredRun::stopped_ms},
      {{"end_reason", "STOP", Kind::text, 0},
       [](const StoredRun& run) { return run.stop_reason.empty() ? Value() : run.stop_reason; }},
      {{"interval_ms", "EVERY", Kind::duration, 1}, &StoredRun::interval_ms},
      {{"pid", "PID", Kind::count, 2}, &StoredRun::pid},
      {{"boot_id", "BOOT", Kind::text, 0, Shown::machines}, [](const StoredRun& run) { return run.boot.boot_id; }},
      {{"kernel", "KERNEL", Kind::text, 0, Shown::machines}, [](const StoredRun& run) { return run.boot.kernel; }},
      {{"version", "VERSION", Kind::text, 3}, &StoredRun::version},
  };
  std::vector<StoredRun> latest(status.runs.rbegin(), status.runs.rend());
  latest.resize(shown);
  return make_table(columns, latest);
}

Table odd_line_table(const std::vector<StoredOddLine>& odd_lines) {
  const Columns<StoredOddLine> columns{
      {{"file", "FILE", Kind::text}, [](const StoredOddLine& of) { return of.odd.file; }},
      {{"key", "KEY", Kind::text, 0, Shown::machines},
       [](const StoredOddLine& of) { return of.odd.key.empty() ? Value() : of.odd.key; }},
      {{"lines", "LINES", Kind::count}, [](const StoredOddLine& of) { return of.odd.count; }},
      {{"last_ms", "LAST", Kind::time}, &StoredOddLine::last_ms},
      {{"problem", "PROBLEM", Kind::sentence, 0, Shown::everywhere, true},
       [](const StoredOddLine& of) { return of.odd.problem; }},
  };
  return make_table<StoredOddLine>(columns, odd_lines, [](const StoredOddLine&) { return Tone::warning; });
}

Report status_report(const RecorderStatus& status, const Options& options) {
  Report report;
  report.title = state_line(status);
  report.tone = tone_of(status.recording);
  if (status.day) report.range = status.day->asked;
  report.coverage = status.day;
  report.facts = fields_for_machines(status);
  report.drawing = lines_for_people(status, options);
  const std::size_t shown = limited(options, status.runs.size(), kDefaultRows);
  report.rows = run_table(status, shown);
  report.sections = {{"degraded", "Degraded:", event_table(status.degraded)},
                     {"odd_lines", "Kernel file lines that could not be parsed; their values are unknown:",
                      odd_line_table(status.odd_lines)},
                     {"events", "Last day:", event_table(status.events)}};
  report.notes = gap_lines(status, options.zone);
  if (shown < status.runs.size()) {
    note_left_out(report, fmt::format("{} of {} runs; {} older ones are not shown (--limit 0 shows all).", shown,
                                      status.runs.size(), status.runs.size() - shown));
  }
  report.nothing_recorded = status.file.ticks == 0;
  return report;
}

Result<Report> run_status(const Context& context) {
  const RecorderStatus status = TRY(find_status(context.reader, context.file, context.runs, context.now_ms));
  return status_report(status, context.options);
}

}  // namespace

Command status_command() {
  return {.name = "status",
          .summary = "recorder state, gaps, file growth and cost",
          .options = {Option::limit},
          .examples = {{"memoir status", "is it recording, and was anything missed in the last day"},
                       {"memoir status --format json", "the same for a monitor"}},
          .run = run_status};
}

}  // namespace memoir::query
