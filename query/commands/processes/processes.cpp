// memoir processes: processes that ran in a range, with start, end and exit.

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>

#include "model/metric.h"
#include "query/args/subject.h"
#include "query/history/exits.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/filter_values.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"
#include "store/activity.h"
#include "store/exits.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// Values from the samples of a process in the range.
struct Seen {
  std::optional<std::int64_t> hwm_kib;
  bool zombie = false;  // a zombie at the end of the range
};

struct LifeRow {
  const StoredProcess* process = nullptr;
  Seen seen;
  std::int64_t start_ms = 0;                   // fork of the process
  std::int64_t end_ms = 0;                     // exit, or the last observation if the exit is unknown
  std::optional<std::int32_t> exit_code = {};  // reported by the kernel; end_ms is then exact

  // Lifetime of the process, from its fork up to the end of this image.
  std::int64_t lifetime_ms() const { return end_ms - start_ms; }
};

std::string how(const LifeRow& row) {
  if (!row.process->exit_kind.empty()) return ending(*row.process);
  return row.seen.zombie ? "zombie" : "alive";
}

std::string how_in_words(const LifeRow& row) {
  return row.exit_code ? format_exit_status(*row.exit_code) : how(row);
}

// Without a reported exit, the lifetime is a maximum: end_ms is the first tick without the process.
std::string lifetime(const LifeRow& row) {
  return (row.process->exited_ms && !row.exit_code ? "at most " : "") + format_span(row.lifetime_ms());
}

// Returns the start of an image; after an exec, this is the tick that first observed it.
std::int64_t image_start_ms(const LifeRow& row) {
  return row.process->info.key.exec_count > 0 ? std::min(row.process->first_ms, row.end_ms) : row.start_ms;
}

Columns<LifeRow> columns() {
  Columns<LifeRow> columns;
  const auto info = [](const LifeRow& row) { return &row.process->info; };
  add_process(columns, info);
  columns.add(data_column("parent_pid", Kind::count), [](const LifeRow& row) { return row.process->info.parent_pid; });
  columns.add(display_column("STARTED", Kind::time), &LifeRow::start_ms);
  columns.add(data_column("first_ms", Kind::time), image_start_ms);
  columns.add(data_column("last_seen_ms", Kind::time), [](const LifeRow& row) { return row.process->last_ms; });
  columns.add({"ended_ms", "ENDED", Kind::time, 3}, [](const LifeRow& row) {
    return row.process->exit_kind.empty() && !row.exit_code ? Value() : row.end_ms;
  });
  columns.add(data_column("end"), [](const LifeRow& row) { return how(row); });
  columns.add(display_column("HOW"), how_in_words);
  columns.add(data_column("status", Kind::count), [](const LifeRow& row) { return status_of(row.exit_code); });
  columns.add(data_column("signal", Kind::count), [](const LifeRow& row) { return signal_of(row.exit_code); });
  columns.add(data_column("lifetime_ms", Kind::duration), &LifeRow::lifetime_ms);
  columns.add(display_column("LIFETIME", Kind::text, 2), [](const LifeRow& row) { return lifetime(row); });
  columns.add({"hwm_kib", "HWM", Kind::size, 1}, [](const LifeRow& row) { return row.seen.hwm_kib; });
  add_owner(columns, info, 5, 4);
  columns.add(display_column("COMMAND"), [](const LifeRow& row) { return shown_command(row.process->info, '?'); });
  return columns;
}

constexpr std::size_t kAllProcesses = std::numeric_limits<std::size_t>::max();

using SeenById = std::unordered_map<std::int64_t, Seen>;

Result<SeenById> see_ticks(Reader& reader, Range range) {
  SeenById seen;
  const HistoryQuery question{.range = range, .metrics = {Metric::hwm}, .zombies = true};
  TRY(reader.history(question, [&seen](const SubjectInterval& of) {
    Seen& process = seen[of.subject_id];
    process.hwm_kib = std::max(process.hwm_kib, of.interval.max);
    process.zombie = of.processes == 0;
  }));
  return seen;
}

// Reads the daily marks reached in the range, instead of all its ticks. Finds the zombies in the last tick of the
// range, if it is still stored.
Result<SeenById> see_marks(Reader& reader, Range range) {
  SeenById seen;
  const ProcessMarks marks = TRY(reader.process_marks(range, range, Metric::hwm, kAllProcesses));
  for (const HighWater& mark : marks.marks) seen[mark.subject_id].hwm_kib = mark.value_kib;
  const std::optional<StoredTick> tick = TRY(reader.tick_at(range.to_ms));
  if (!tick) return seen;
  const Snapshot snapshot = TRY(reader.snapshot(tick->id));
  for (const ProcessState& state : snapshot.processes) {
    const char letter = state.sample.state;
    seen[state.process.id].zombie = letter == 'Z' || letter == 'X';
  }
  return seen;
}

// Returns the exits in the range that the kernel reported.
Result<std::unordered_map<std::int64_t, ExitRecord>> load_reported_exits(Reader& reader, Range range) {
  std::unordered_map<std::int64_t, ExitRecord> ends;
  for (const StoredExit& of : TRY(load_exits(reader, range))) ends.emplace(of.process_id, of.record);
  return ends;
}

LifeRow row_of(const StoredProcess& process, const Seen& seen, const ExitRecord* end) {
  LifeRow row{&process, seen, std::min(process.info.start_ms, process.first_ms),
              process.exited_ms.value_or(process.last_ms)};
  if (end == nullptr) return row;
  row.exit_code = end->exit_code;
  row.end_ms = end->exited_ms;
  row.start_ms = end->exited_ms - end->lived_ms;
  if (!row.seen.hwm_kib || end->peak_kib > row.seen.hwm_kib) row.seen.hwm_kib = end->peak_kib;
  return row;
}

void sort_rows(std::vector<LifeRow>& rows, const std::string& by) {
  std::stable_sort(rows.begin(), rows.end(), [&by](const LifeRow& a, const LifeRow& b) {
    if (by == "hwm") return a.seen.hwm_kib > b.seen.hwm_kib;
    if (by == "lifetime") return a.lifetime_ms() > b.lifetime_ms();
    return a.start_ms > b.start_ms;
  });
}

// Returns the requested range, or the last hour. With --at, returns the time of its tick or, if the ticks have expired,
// the last recorded millisecond.
Result<Range> asked_range(const Context& context) {
  if (!context.when.at_ms) {
    return range_or_last(context.when, {context.file.first_tick_ms, context.file.last_tick_ms}, kLastHourMs);
  }
  const std::int64_t at_ms = *context.when.at_ms;
  const std::optional<StoredTick> tick = TRY(context.reader.tick_at(at_ms));
  if (tick) return Range{tick->begin.wall_ms, tick->begin.wall_ms};
  if (at_ms < context.file.first_tick_ms) return Range{at_ms, at_ms};
  const std::int64_t recorded = TRY(recorded_at(context, at_ms));
  return Range{recorded - 1, recorded};
}

// With --at the answer is about one time, not about a range without length.
Result<Report> begin_report(const Context& context, Range range) {
  Result<Report> report = begin_range_report(context, range);
  if (report) report->rows = make_table(columns(), {});
  if (!report || !context.when.at_ms) return report;
  if (report->nothing_recorded) return nothing_recorded(context, columns());
  report->at_ms = range.to_ms;
  report->range.reset();
  return report;
}

// Numbers of processes; the images of one process count as one.
struct Counts {
  std::int64_t processes = 0;
  std::optional<std::int64_t> started = {};
  std::optional<std::int64_t> exited = {};
};

// Counts the rows. Most processes that ran only between two ticks have no row.
Counts count_rows(const std::vector<LifeRow>& rows, Range range) {
  std::set<std::tuple<std::string_view, std::int32_t, std::uint64_t>> lives;
  Counts counts{0, 0, 0};
  for (const LifeRow& row : rows) {
    const ProcessKey& key = row.process->info.key;
    if (lives.emplace(row.process->boot_id, key.pid, key.start_ticks).second && row.start_ms > range.from_ms)
      ++*counts.started;
    const bool has_exited = row.exit_code || (row.process->exited_ms && row.process->exit_kind != "execed");
    if (has_exited && row.end_ms <= range.to_ms) ++*counts.exited;
  }
  counts.processes = static_cast<std::int64_t>(lives.size());
  return counts;
}

std::string sum_line(const Counts& counts, std::int64_t unsampled, bool at_time, const Truncation& cut) {
  std::string line = format_count(counts.processes, "process ran", "processes ran");
  line += at_time ? " at this time" : " in this range";
  if (counts.started && counts.exited)
    line += fmt::format("; {} started and {} exited in it", *counts.started, *counts.exited);
  if (unsampled > 0) line += fmt::format("; {} of them between two ticks (memoir exits)", unsampled);
  if (cut.shown < cut.all) line += fmt::format("; {} of {} rows shown (--limit 0 shows all)", cut.shown, cut.all);
  return line + ".";
}

Result<Report> list_processes(const Context& context) {
  const Range range = TRY(asked_range(context));
  const Filter filter = TRY(filter_over(context, range));
  Report report = TRY(begin_report(context, range));
  if (report.nothing_recorded) return report;
  std::int64_t left_out = 0;
  const std::vector<StoredProcess> processes = TRY(load_processes(context.reader, range, &left_out));
  if (left_out > 0) report.warnings.push_back(brief_left_out(left_out));
  const Tier tier = TRY(tier_of(context, range, Reads::all));
  const auto seen = TRY(holds_groups(tier) ? see_marks(context.reader, range) : see_ticks(context.reader, range));
  const auto ends = TRY(load_reported_exits(context.reader, range));

  std::vector<LifeRow> rows;
  for (const StoredProcess& process : processes) {
    if (!filter.matches(process)) continue;
    const auto found = seen.find(process.id);
    const auto end = process.exit_kind == "execed" ? ends.end() : ends.find(process.id);
    rows.push_back(
        row_of(process, found == seen.end() ? Seen{} : found->second, end == ends.end() ? nullptr : &end->second));
  }
  Counts counts = count_rows(rows, range);
  std::int64_t unsampled = 0;
  if (context.when.at_ms) {
    counts.started = counts.exited = std::nullopt;
  } else if (filter.takes_all()) {
    const std::optional<Activity> activity = TRY(load_activity(context.reader, range));
    counts.started = activity ? std::optional(activity->started) : std::nullopt;
    counts.exited = activity ? std::optional(activity->exited) : std::nullopt;
    if (activity && activity->alive) {
      const std::int64_t ran = *activity->alive + activity->exited;
      // Without kernel events, the rest are processes that were first sampled after the range.
      if (left_out == 0 && activity->reported_ticks > 0) unsampled = ran - counts.processes;
      counts.processes = std::max(counts.processes, ran);
    }
  }
  const std::string by = context.options.by.value_or("start");
  sort_rows(rows, by);
  const Truncation cut{.shown = limited(context, rows.size()), .all = rows.size(), .of = {}};
  rows.resize(cut.shown);
  report.title = fmt::format("processes, {}", by == "start" ? "the newest first" : "ranked by " + by);
  report.rows = make_table(columns(), rows);
  mark_sorted(report.rows, by == "hwm" ? "hwm_kib" : by == "start" ? "start_ms" : "lifetime_ms");
  if (by != "hwm") mark_sorted(report.rows, by == "start" ? "STARTED" : "LIFETIME");  // human-readable
  add_row_totals(report, cut.all, cut.shown);
  report.totals.push_back({"processes", "", Kind::count, counts.processes});
  report.totals.push_back({"started", "", Kind::count, counts.started});
  report.totals.push_back({"exited", "", Kind::count, counts.exited});
  const std::string sum = sum_line(counts, unsampled, context.when.at_ms.has_value(), cut);
  if (cut.shown < cut.all) {
    note_left_out(report, sum);
  } else {
    report.notes.push_back(sum);
  }
  note_filter(filter, context.when.at_ms ? "at this time" : "in the range", report);
  report.facts = {{"tier", "", Kind::text, std::string(to_string(tier))}};
  if (holds_groups(tier))
    report.notes.emplace_back(
        "From rollups: HWM is the mark of a UTC day, and is known only if it was reached in the range.");
  return report;
}

}  // namespace

Command processes_command() {
  return {.name = "processes",
          .summary = "processes that ran in a range: start, end, exit",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::from, Option::to, Option::last, Option::day, Option::by, Option::filter,
                      Option::tier, Option::limit, Option::exited},
          .by = {"start", "lifetime", "hwm"},
          .examples = {{"memoir processes --last 10m", "processes that ran in the last ten minutes"},
                       {"memoir processes --day yesterday --by hwm --filter user=www-data",
                        "the largest of one user, yesterday"}},
          .run = list_processes,
          .subject_help = subject_help("all processes"),
          .subject_filters = true};
}

}  // namespace memoir::query
