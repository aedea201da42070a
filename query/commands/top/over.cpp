#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "analysis/grouping.h"
#include "query/commands/top/top.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/filter_values.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"

namespace memoir::query {
namespace {

// Lines that notes about rollups may need.
constexpr std::size_t kLinesOfRollups = 4;

void summarise_row(TopRow& row, bool of_rollups, std::int64_t recorded_ms, double whole) {
  row.summary = row.process ? row.fold.summary() : row.sum ? row.sum->summary() : row.summary;
  row.mean_kib = mean_over(row.summary, recorded_ms);
  // The memory at the end of a bucket may differ from the bucket's mean.
  if (of_rollups && row.at_ends.last_kib.value_or(0) > 0 && row.summary.last) row.at_ends.last_kib = row.summary.last;
  const double held = row.summary.mean.value_or(0) * static_cast<double>(row.summary.covered_ms);
  if (whole > 0) row.share = 100.0 * held / whole;
}

void describe_total(Report& report, const TopFold& fold, Metric metric, Units units) {
  const TopHeld& held = fold.held;
  const std::int64_t recorded_ms = report.coverage->recorded_ms;
  report.totals.push_back({"processes", "", Kind::count, fold.chosen});
  if (fold.chosen == 0) report.notes.emplace_back("No process matches.");
  if (recorded_ms <= 0 || held.chosen <= 0) return;
  const auto mean_kib = std::llround(held.chosen / static_cast<double>(recorded_ms));
  const auto exact = held.exact.percent();
  report.totals.push_back({"mean_kib", "", Kind::size, std::int64_t{mean_kib}});
  report.totals.push_back({"exact_percent", "", Kind::percent, exact});
  const std::string subject = fold.chosen ? format_count(*fold.chosen, "process", "processes") : "All processes";
  report.notes.push_back(
      fmt::format("{}: mean {} {}{}.", subject, metric_title(metric), format_size(mean_kib, units),
                  exact ? fmt::format(" ({} of it exact or held)", format_exact_percent(*exact)) : std::string()));
}

// Reports memory that rollups do not have, or have only for groups.
void report_short_lived(const Context& context, const TopQuery& asked, const Filter& filter, const TopFold& fold,
                        Report& report) {
  const std::int64_t recorded_ms = report.coverage->recorded_ms;
  const bool whole = group_kind(asked.group) && filter.takes_all();
  if (asked.group != "process" && !whole)
    report.notes.emplace_back("Rollups have the mean of a group's sum, not its maximum.");
  if (whole || !filter.takes_all() || recorded_ms <= 0) return;
  const std::int64_t kib = std::llround((fold.held.all - fold.held.chosen) / static_cast<double>(recorded_ms));
  report.totals.push_back({"short_lived_mean_kib", "", Kind::size, std::max<std::int64_t>(kib, 0)});
  if (kib <= fold.chosen.value_or(0)) return;  // up to 1 KiB per process may be rounding
  report.notes.push_back(short_lived_note(
      fmt::format(": mean {} {}", metric_title(asked.metric), format_size(kib, context.options.units))));
}

std::optional<std::int64_t> rank_value(const TopRow& row, bool by_growth, bool by_mark) {
  if (by_growth) return row.at_ends.growth_kib();
  return by_mark ? row.summary.max : row.mean_kib;
}

std::int64_t mean_of_left_out(const TopFold& fold, const Report& report) {
  const std::int64_t recorded_ms = report.coverage->recorded_ms;
  return recorded_ms > 0 ? std::llround(fold.held.left_out / static_cast<double>(recorded_ms)) : 0;
}

// Returns the columns. Marks only have the largest value and its time.
Columns<TopRow> columns_of(const std::string& group, bool by_growth, Metric by_metric, Tier tier, Zone zone) {
  const Shown sums = by_metric == Metric::hwm ? Shown::machines : Shown::everywhere;
  Columns<TopRow> columns;
  if (group == "process") {
    add_process(columns, [](const TopRow& row) { return &row.process->info; });
  } else {
    columns.add({"processes", "PROCS", Kind::count}, &TopRow::processes);
  }
  columns.add(data_column("metric"), [by_metric](const TopRow&) { return to_string(by_metric); });
  columns.add({"mean_kib", "MEAN", Kind::size, by_growth ? 3 : 0, sums}, &TopRow::mean_kib);
  columns.add({"max_kib", "MAX", Kind::size, 1}, [](const TopRow& row) { return row.summary.max; });
  // Marks are as exact as ticks.
  add_max_reached(columns, 2, by_metric == Metric::hwm ? Tier() : tier, zone,
                  [](const TopRow& row) -> const Summary& { return row.summary; });
  columns.add(data_column("first_kib", Kind::size), [](const TopRow& row) { return row.at_ends.first_kib; });
  columns.add(data_column("last_kib", Kind::size), [](const TopRow& row) { return row.at_ends.last_kib; });
  if (by_metric != Metric::hwm)
    columns.add(display_column("LAST", Kind::size, 5), [](const TopRow& row) { return last_or_gone(row.at_ends); });
  columns.add({"growth_kib", "GROWTH", Kind::size, by_growth ? 0 : 4, sums},
              [](const TopRow& row) { return row.at_ends.growth_kib(); });
  columns.add(data_column("what"),
              [](const TopRow& row) { return row.at_ends.what.empty() ? Value() : std::string(row.at_ends.what); });
  columns.add(data_column("known_ms", Kind::duration), [](const TopRow& row) { return row.summary.covered_ms; });
  columns.add({"share_percent", "SHARE", Kind::percent, 6, sums}, &TopRow::share);
  if (group == "process") {
    columns.add(display_column("COMMAND"), &TopRow::name);
    return columns;
  }
  add_group_name(columns, group);
  return columns;
}

}  // namespace

Result<Report> top_over(const Context& context, Range range) {
  const Filter filter = TRY(filter_over(context, range));
  Report report = TRY(begin_range_report(context, range));
  const std::string group = context.options.group.value_or("process");
  const std::string by = context.options.by.value_or("pss");
  const Metric metric = parse_metric(by).value_or(Metric::pss);
  const bool by_growth = by == "growth";
  const bool by_mark = metric == Metric::hwm;
  const Tier tier = TRY(tier_of(context, report, Reads::all));
  const Columns<TopRow> columns = columns_of(group, by_growth, metric, tier, context.options.zone);
  report.rows = make_table(columns, {});
  if (report.nothing_recorded) return report;
  const TopQuery asked{range, tier, metric, group};
  TopFold fold = TRY(fold_top(context.reader, asked, filter));
  std::vector<TopRow>& rows = fold.rows;
  if (!by_mark) {
    TRY(add_growth(context, asked, filter, by_growth, fold));
    for (TopRow& row : rows)
      summarise_row(row, means_over(fold.ends.end).has_value(), report.coverage->recorded_ms, fold.held.all);
    describe_total(report, fold, metric, context.options.units);
  }
  if (!fold.complete) report_short_lived(context, asked, filter, fold, report);
  std::ranges::stable_sort(rows, std::greater(),
                           [&](const TopRow& row) { return rank_value(row, by_growth, by_mark); });

  const char* ranking = by_growth ? "growth" : by_mark ? "maximum" : "mean";
  report.title = fmt::format("{} by {}, ranked by {}", metric_title(metric), group, ranking);
  const std::string of = fmt::format("{}{}", by_mark ? "" : "mean ", metric_title(metric));
  limit_rows(rows, report, context, [by_mark](const TopRow& row) { return by_mark ? row.summary.max : row.mean_kib; },
             {.kib = by_mark ? fold.left_out.highest_kib : mean_of_left_out(fold, report),
              .of = of,
              .adds_up = !by_mark,
              .more_lines = fold.complete ? 0 : kLinesOfRollups,
              .beyond_memory = fold.left_out.count});
  report.rows = make_table(columns, rows);
  mark_sorted(report.rows, by_growth ? "growth_kib" : by_mark ? "max_kib" : "mean_kib");
  note_filter(filter, "in the range", report);
  report_tier(tier, report);
  return report;
}

}  // namespace memoir::query
