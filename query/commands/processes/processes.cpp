// memoir processes: who lived in a range, from when to when, and how it ended.

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>

#include "model/metric.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/filter_values.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"
#include "store/exits.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// What its samples in the range say.
struct Seen {
  std::optional<std::int64_t> hwm_kib;
  bool zombie = false;  // at last
};

struct LifeRow {
  const StoredProcess* process = nullptr;
  Seen seen;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;  // when it was last seen, where it is not known to have ended
  bool told = false;        // by the kernel, to the millisecond
};

// An exec keeps pid and start time: the new image began when it was first seen.
std::int64_t start_of(const StoredProcess& process) {
  return process.info.key.exec_count > 0 ? process.first_ms : std::min(process.info.start_ms, process.first_ms);
}

std::string how(const LifeRow& row) {
  if (!row.process->end.empty()) return ending(*row.process);
  return row.seen.zombie ? "zombie" : "alive";
}

// It ended after it was seen last, and before the tick that did not see it any more.
std::string lifetime(const LifeRow& row) {
  return (row.process->gone_ms && !row.told ? "at most " : "") + print_span(row.end_ms - row.start_ms);
}

Columns<LifeRow> columns() {
  Columns<LifeRow> columns;
  const auto info = [](const LifeRow& row) { return &row.process->info; };
  add_process(columns, info);
  columns.add(for_machines("parent_pid", Kind::count), [](const LifeRow& row) { return row.process->info.parent_pid; });
  columns.add({"first_ms", "STARTED", Kind::time}, &LifeRow::start_ms);
  columns.add(for_machines("last_seen_ms", Kind::time), [](const LifeRow& row) { return row.process->last_ms; });
  columns.add({"ended_ms", "ENDED", Kind::time, 3},
              [](const LifeRow& row) { return row.process->end.empty() ? Value() : row.end_ms; });
  columns.add({"end", "HOW", Kind::text}, [](const LifeRow& row) { return how(row); });
  columns.add(for_machines("lifetime_ms", Kind::duration),
              [](const LifeRow& row) { return row.end_ms - row.start_ms; });
  columns.add(for_people("LIFETIME", Kind::text, 2), [](const LifeRow& row) { return lifetime(row); });
  columns.add({"hwm_kib", "HWM", Kind::size, 1}, [](const LifeRow& row) { return row.seen.hwm_kib; });
  add_owner(columns, info, 5, 4);
  columns.add(for_people("COMMAND"), [](const LifeRow& row) { return shown_command(row.process->info, '?'); });
  return columns;
}

constexpr std::size_t kAllProcesses = std::numeric_limits<std::size_t>::max();

using SeenById = std::unordered_map<std::int64_t, Seen>;

Result<SeenById> see_ticks(Reader& reader, Range range) {
  SeenById seen;
  const HistoryQuestion question{.range = range, .metrics = {Metric::hwm}, .zombies = true};
  TRY(reader.history(question, [&seen](const SubjectInterval& of) {
    Seen& process = seen[of.subject_id];
    process.hwm_kib = std::max(process.hwm_kib, of.interval.max);
    process.zombie = of.processes == 0;
  }));
  return seen;
}

// The marks of the days stand in for ticks, as far as they were reached in the range; and the last tick of the range,
// if it is kept, tells who is a zombie.
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

// Those of the range, as the kernel told them.
Result<std::unordered_map<std::int64_t, ProcessEnd>> told_ends(Reader& reader, Range range) {
  std::unordered_map<std::int64_t, ProcessEnd> ends;
  for (const StoredEnd& of : TRY(load_exits(reader, range))) ends.emplace(of.process_id, of.end);
  return ends;
}

LifeRow row_of(const StoredProcess& process, const Seen& seen, const ProcessEnd* end) {
  LifeRow row{&process, seen, start_of(process), process.gone_ms.value_or(process.last_ms)};
  if (end == nullptr) return row;
  row.told = true;
  row.end_ms = end->ended_ms;
  row.start_ms = std::min(row.start_ms, row.end_ms);
  if (!row.seen.hwm_kib || end->peak_kib > row.seen.hwm_kib) row.seen.hwm_kib = end->peak_kib;
  return row;
}

void sort_rows(std::vector<LifeRow>& rows, const std::string& by) {
  std::stable_sort(rows.begin(), rows.end(), [&by](const LifeRow& a, const LifeRow& b) {
    if (by == "hwm") return a.seen.hwm_kib > b.seen.hwm_kib;
    if (by == "lifetime") return a.end_ms - a.start_ms > b.end_ms - b.start_ms;
    return a.start_ms > b.start_ms;
  });
}

// The range asked, or the last hour; with --at the processes that lived at that tick, or, where it is gone, in that
// millisecond.
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

// With --at the answer is about one time, not about a range that has no length.
Result<Report> begin_report(const Context& context, Range range) {
  Result<Report> report = begin_range_report(context, range);
  if (report) report->rows = make_table(columns(), {});
  if (!report || !context.when.at_ms) return report;
  if (report->nothing_recorded) return nothing_recorded(context, columns());
  report->at_ms = range.to_ms;
  report->range.reset();
  return report;
}

std::string sum_line(std::int64_t count, std::int64_t shown, std::optional<std::int64_t> ended) {
  const std::string lived =
      ended ? fmt::format("lived in this range, {} ended in it", *ended) : std::string("lived at this time");
  return fmt::format("{} {}{}.", print_count(count, "process", "processes"), lived,
                     count > shown ? fmt::format("; {} shown (--limit 0 shows all)", shown) : std::string());
}

Result<Report> list_processes(const Context& context) {
  const Range range = TRY(asked_range(context));
  const Filter filter = TRY(filter_over(context, range));
  Report report = TRY(begin_report(context, range));
  if (report.nothing_recorded) return report;
  const std::vector<StoredProcess> processes = TRY(load_processes(context.reader, range));
  const Tier tier = TRY(tier_of(context, range, Reads::all));
  const auto seen = TRY(holds_short_lived(tier) ? see_ticks(context.reader, range) : see_marks(context.reader, range));
  const auto ends = TRY(told_ends(context.reader, range));

  std::vector<LifeRow> rows;
  std::int64_t ended = 0;
  for (const StoredProcess& process : processes) {
    if (!filter.matches(process)) continue;
    const auto found = seen.find(process.id);
    const auto end = process.end == "execed" ? ends.end() : ends.find(process.id);
    rows.push_back(
        row_of(process, found == seen.end() ? Seen{} : found->second, end == ends.end() ? nullptr : &end->second));
    if (process.gone_ms && *process.gone_ms <= range.to_ms) ++ended;
  }
  const std::string by = context.options.by.value_or("start");
  sort_rows(rows, by);
  const auto count = static_cast<std::int64_t>(rows.size());
  rows.resize(limited(context, rows.size()));
  report.title = fmt::format("processes, {}", by == "start" ? "the newest first" : "ranked by " + by);
  report.rows = make_table(columns(), rows);
  mark_sorted(report.rows, by == "hwm" ? "hwm_kib" : by == "start" ? "first_ms" : "lifetime_ms");
  if (by == "lifetime") mark_sorted(report.rows, "LIFETIME");  // people's column of it
  add_row_totals(report, static_cast<std::size_t>(count), rows.size());
  report.totals.push_back({"ended", "", Kind::count, ended});
  const auto shown = static_cast<std::int64_t>(rows.size());
  const std::string sum = sum_line(count, shown, context.when.at_ms ? std::nullopt : std::optional(ended));
  if (shown < count) {
    note_left_out(report, sum);
  } else {
    report.notes.push_back(sum);
  }
  note_filter(filter, context.when.at_ms ? "at this time" : "in the range", report);
  report.facts = {{"tier", "", Kind::text, std::string(to_string(tier))}};
  if (!holds_short_lived(tier))
    report.notes.emplace_back(
        "From the processes' own rows and the marks of the UTC days: HWM is known where it was reached in the range.");
  return report;
}

}  // namespace

Command processes_command() {
  return {.name = "processes",
          .summary = "who lived in a range, from when to when, and how it ended",
          .options = {Option::at, Option::from, Option::to, Option::last, Option::day, Option::by, Option::filter,
                      Option::tier, Option::limit},
          .by = {"start", "lifetime", "hwm"},
          .examples = {{"memoir processes --last 10m", "what started, lived and ended in the last ten minutes"},
                       {"memoir processes --day yesterday --by hwm --filter user=www-data",
                        "the largest of one user, yesterday"}},
          .run = list_processes};
}

}  // namespace memoir::query
