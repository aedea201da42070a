// memoir diff --against: mean memory over one period compared with another.

#include "query/history/periods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

#include "query/commands/diff/diff.h"
#include "query/history/history.h"
#include "query/history/row_plan.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/filter_values.h"
#include "query/state/limit.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

constexpr std::size_t kBefore = 0;
constexpr std::size_t kAfter = 1;

// Means over the recorded time of a period.
struct Period {
  Range range;
  Tier tier = {};
  Coverage coverage;
  std::map<std::string, double> held;  // memory over time of each row, in KiB × ms
  std::map<std::string, std::int64_t> processes;
  double chosen = 0;  // sum of the rows
  double all = 0;     // memory over time of all processes
  std::optional<std::int64_t> used_kib;
  std::optional<std::int64_t> total_kib;

  std::int64_t mean(double held_kib_ms) const {
    return std::llround(held_kib_ms / static_cast<double>(std::max<std::int64_t>(coverage.recorded_ms, 1)));
  }
  std::optional<std::int64_t> mean_of(const std::string& row) const {
    const auto found = held.find(row);
    return found == held.end() ? std::nullopt : std::optional(mean(found->second));
  }
};

// A row, or one of the sums.
struct PeriodRow {
  std::string name = {};
  std::optional<std::int64_t> before_kib = {};  // nullopt: absent
  std::optional<std::int64_t> after_kib = {};
  std::int64_t processes_before = 0;
  std::int64_t processes_after = 0;

  std::int64_t change_kib() const { return after_kib.value_or(0) - before_kib.value_or(0); }
  std::string_view what() const {
    if (!before_kib) return "new";
    if (!after_kib) return "gone";
    return change_kib() == 0 ? "same" : change_kib() > 0 ? "grown" : "shrunk";
  }
};

Result<Period> load_period(const Context& context, const DiffQuery& question, Range range) {
  Reader& reader = context.reader;
  Period period;
  period.range = range;
  period.coverage = TRY(reader.coverage(range));
  period.tier = TRY(tier_of(context, range, Reads::all));
  const Filter filter = TRY(filter_over(context, range));
  RowPlan plan(question.group, filter);
  std::vector<double> held;
  // No data follows the last tick, so its whole bucket is in the period.
  Range whole = range;
  if (range.to_ms >= context.file.last_tick_ms)
    whole.to_ms = std::max(range.to_ms, bucket_around(period.tier, range.to_ms).to_ms);
  const HistoryQuery asked{period.tier, SubjectKind::process, {}, whole, {question.by}};
  const bool complete = TRY(visit_rows(
      reader, asked, plan, RowRank::memory,
      [&](std::size_t row, const SubjectInterval& of, bool) {
        period.all += held_over(of.interval);
        if (row == RowPlan::kLeftOut) return;
        if (row >= held.size()) held.resize(row + 1);
        held[row] += held_over(of.interval);
        period.chosen += held_over(of.interval);
      },
      [&](const SubjectInterval& of) { period.all += held_over(of.interval); }));
  held.resize(plan.rows().size());
  for (std::size_t row = 0; row < held.size(); ++row) {
    period.held[plan.rows()[row].name] += held[row];
    period.processes[plan.rows()[row].name] += plan.rows()[row].processes;
  }
  if (!complete) {
    // The categories include processes that were too short-lived for their own rollups.
    period.all = 0;
    HistoryQuery categories = asked;
    categories.kind = SubjectKind::category;
    TRY(reader.history(categories, [&](const SubjectInterval& of) { period.all += held_over(of.interval); }));
  }
  SeriesByMetric machine = TRY(load_series(
      reader, {period.tier, SubjectKind::machine, {}, range, {Metric::used, metric_of(MachineField::mem_total)}}));
  period.used_kib = span_stats_of(machine[Metric::used], range.from_ms, range.to_ms).mean;
  period.total_kib = span_stats_of(machine[metric_of(MachineField::mem_total)], range.from_ms, range.to_ms).mean;
  return period;
}

std::vector<PeriodRow> rows_of(const std::array<Period, 2>& periods) {
  std::map<std::string, PeriodRow> rows;
  for (const Period& period : periods) {
    for (const auto& [name, held] : period.held) rows[name].name = name;
  }
  const auto count = [](const Period& period, const std::string& name) {
    const auto found = period.processes.find(name);
    return found == period.processes.end() ? 0 : found->second;
  };
  for (auto& [name, row] : rows) {
    row.before_kib = periods[kBefore].mean_of(name);
    row.after_kib = periods[kAfter].mean_of(name);
    row.processes_before = count(periods[kBefore], name);
    row.processes_after = count(periods[kAfter], name);
  }
  std::vector<PeriodRow> list = taken_from(rows);
  std::ranges::stable_sort(list, std::greater(), [](const PeriodRow& row) { return std::abs(row.change_kib()); });
  return list;
}

void add_period_sizes(Columns<PeriodRow>& columns) {
  columns.add({"change_kib", "CHANGE", Kind::change}, &PeriodRow::change_kib);
  columns.add({"before_kib", "BEFORE", Kind::size, 2}, &PeriodRow::before_kib);
  columns.add({"after_kib", "AFTER", Kind::size, 1}, &PeriodRow::after_kib);
}

Columns<PeriodRow> period_columns(const std::string& group) {
  Columns<PeriodRow> columns;
  add_period_sizes(columns);
  columns.add({"what", "WHAT", Kind::text, 4}, &PeriodRow::what);
  columns.add({"processes_before", "PROCS BEFORE", Kind::count, 5}, &PeriodRow::processes_before);
  columns.add({"processes_after", "PROCS", Kind::count, 3}, &PeriodRow::processes_after);
  std::string header = group;
  for (char& c : header) c = static_cast<char>(c - 'a' + 'A');
  columns.add({group, header, Kind::text}, &PeriodRow::name);
  return columns;
}

// Returns sums of the rows and of the memory that is in no row. They add up to the machine's memory in use.
std::vector<PeriodRow> sums_of(const std::array<Period, 2>& periods, const DiffQuery& question) {
  const auto row = [&](const char* name, auto get) {
    return PeriodRow{.name = name, .before_kib = get(periods[kBefore]), .after_kib = get(periods[kAfter])};
  };
  using Size = std::optional<std::int64_t>;
  std::vector<PeriodRow> sums{
      row("rows above", [](const Period& of) { return Size(of.mean(of.chosen)); }),
      row(question.filter.takes_all() ? "processes too short-lived for rollups" : "other processes",
          [](const Period& of) { return Size(of.mean(of.all) - of.mean(of.chosen)); }),
      row("all processes", [](const Period& of) { return Size(of.mean(of.all)); })};
  if (sums[1].before_kib.value_or(0) == 0 && sums[1].after_kib.value_or(0) == 0) sums.erase(sums.begin() + 1);
  if (question.by != Metric::pss) return sums;
  sums.push_back(row("other memory in use", [](const Period& of) {
    return of.used_kib ? Size(*of.used_kib - of.mean(of.all)) : std::nullopt;
  }));
  sums.push_back(row("memory in use", [](const Period& of) { return of.used_kib; }));
  return sums;
}

Section sums_section(const std::vector<PeriodRow>& sums) {
  Columns<PeriodRow> columns;
  add_period_sizes(columns);
  columns.add({"part", "SUM"}, &PeriodRow::name);
  return {"sums", "The rows add up", make_table(columns, sums)};
}

}  // namespace

Result<Report> diff_periods(const Context& context, const DiffQuery& question, Range before) {
  Report report;
  report.range = question.range;
  std::array<Period, 2> periods;
  periods[kBefore] = TRY(load_period(context, question, before));
  periods[kAfter] = TRY(load_period(context, question, question.range));
  report.coverage = periods[kAfter].coverage;
  const Units units = context.options.units;
  std::vector<PeriodRow> rows = rows_of(periods);
  const auto unchanged =
      static_cast<std::int64_t>(std::erase_if(rows, [](const PeriodRow& row) { return row.change_kib() == 0; }));
  const std::vector<PeriodRow> sums = sums_of(periods, question);
  report.title =
      fmt::format("mean {} by {} against {} to {}", metric_title(question.by), question.group,
                  format_time(before.from_ms, context.options.zone), format_time(before.to_ms, context.options.zone));
  for (const Period& period : periods) {
    if (period.coverage.recorded_ms > 0) continue;
    report.nothing_recorded = true;
    report.warnings.push_back(fmt::format("nothing was recorded from {} to {}",
                                          format_time(period.range.from_ms, context.options.zone),
                                          format_time(period.range.to_ms, context.options.zone)));
  }
  if (report.nothing_recorded) {
    report.rows = make_table(period_columns(question.group), std::vector<PeriodRow>());
    return report;
  }
  const PeriodRow& used = sums.back();
  if (question.by == Metric::pss && used.before_kib && used.after_kib) {
    report.lead = fmt::format("Memory in use: {} before, {} after ({}).", format_size(*used.before_kib, units),
                              format_size(*used.after_kib, units), format_change(used.change_kib(), units));
  }
  report.facts = {{"before_from_ms", "", Kind::time, before.from_ms},
                  {"before_to_ms", "", Kind::time, before.to_ms},
                  {"group", "", Kind::text, question.group},
                  {"metric", "", Kind::text, std::string(to_string(question.by))}};
  report.totals = {{"unchanged", "", Kind::count, unchanged},
                   {"change_kib", "", Kind::change, sums.front().change_kib()},
                   {"all_change_kib", "", Kind::change,
                    periods[kAfter].mean(periods[kAfter].all) - periods[kBefore].mean(periods[kBefore].all)}};
  const std::size_t all = rows.size();
  const std::size_t shown = limited(context, all, 10);
  std::int64_t rest_kib = 0;
  for (std::size_t i = shown; i < all; ++i) rest_kib += rows[i].change_kib();
  rows.resize(shown);
  add_row_totals(report, all, shown);
  if (shown < all)
    note_left_out(report, fmt::format("{} of {} changes; the other {} add up to {} (--limit 0 shows all).", shown, all,
                                      all - shown, format_change(rest_kib, units)));
  report.rows = make_table(period_columns(question.group), rows);
  mark_sorted(report.rows, "change_kib");
  report.sections = {sums_section(sums),
                     periods_section({{"before", before, periods[kBefore].tier, periods[kBefore].coverage},
                                      {"after", question.range, periods[kAfter].tier, periods[kAfter].coverage}})};
  note_filter(question.filter, "in the periods", report);
  return report;
}

}  // namespace memoir::query
