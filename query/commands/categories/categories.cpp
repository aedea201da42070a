// memoir categories: the categories defined by the rules, with the memory of their members.

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "analysis/grouping.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/changes.h"
#include "query/state/command.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/state.h"

namespace memoir::query {
namespace {

Metric metric_of(const Context& context) {
  return parse_metric(context.options.by.value_or("pss")).value_or(Metric::pss);
}

struct Now {
  GroupState held;
  std::optional<double> share;
};

Columns<Now> columns_now(bool hugetlb = false) {
  Columns<Now> columns{
      {{"processes", "PROCS", Kind::count}, [](const Now& row) { return row.held.processes; }},
      {{"inexact", "INEXACT", Kind::count, 5}, [](const Now& row) { return row.held.inexact; }},
  };
  const auto add = [&columns](Metric metric, int drop_order, Shown shown = Shown::everywhere) {
    const MetricInfo& info = info_of(metric);
    columns.add({std::string(info.column), std::string(info.header), Kind::size, drop_order, shown},
                [metric](const Now& row) { return row.held.kib[metric]; });
  };
  add(Metric::pss, 0);
  add(Metric::rss, 3);
  add(Metric::uss, 2);
  add(Metric::swap, 1);
  add(Metric::swap_pss, 4);
  add(Metric::hugetlb, 6, hugetlb ? Shown::everywhere : Shown::machines);
  columns.add({"share_percent", "SHARE", Kind::percent, 1}, &Now::share);
  columns.add({"category", "CATEGORY", Kind::text}, [](const Now& row) { return row.held.name; });
  return columns;
}

Result<Report> at_one_time(const Context& context) {
  const std::optional<State> loaded = TRY(load_state(context));
  if (!loaded) return nothing_recorded(context, columns_now());
  const State& state = *loaded;
  const Metric by = metric_of(context);
  Report report = TRY(begin_report(context, state, fmt::format("categories, ranked by {}", metric_title(by))));
  std::int64_t whole = 0;
  for (const GroupState& category : state.categories) whole += category.kib[by].value_or(0);
  std::vector<Now> rows;
  for (const GroupState& category : state.categories)
    rows.push_back({category, share_percent(category.kib[by], whole)});
  std::ranges::stable_sort(rows, std::greater(), [by](const Now& row) { return row.held.kib[by]; });
  report.totals = {{std::string(to_string(by)) + "_kib", "", Kind::size, whole}};
  report.notes.push_back(fmt::format(
      "{} {} of {}.", format_count(static_cast<std::int64_t>(rows.size()), "category holds", "categories hold"),
      format_size(whole, context.options.units), metric_title(by)));
  limit_rows(rows, report, context, [by](const Now& row) { return row.held.kib[by]; }, {.of = metric_title(by)});
  const bool hugetlb = std::ranges::any_of(
      state.categories, [](const GroupState& of) { return of.kib[Metric::hugetlb].value_or(0) > 0; });
  report.rows = make_table(columns_now(hugetlb), rows);
  mark_sorted(report.rows, fmt::format("{}_kib", to_string(by)));
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

struct Over {
  std::string name;
  Fold fold;
  std::int64_t max_processes = 0;
  Summary summary;
  std::optional<std::int64_t> mean_kib;  // mean over all recorded time
  MemoryAtEnds at_ends;
};

Columns<Over> columns_over(const std::string& metric, Tier tier, Zone zone) {
  Columns<Over> columns{
      {{"most_processes", "PROCS", Kind::count}, &Over::max_processes},
      {data_column("metric"), [metric](const Over&) { return metric; }},
      {{"mean_kib", "MEAN", Kind::size}, &Over::mean_kib},
      {{"max_kib", "MAX", Kind::size}, [](const Over& row) { return row.summary.max; }},
  };
  add_max_reached(columns, 2, tier, zone, [](const Over& row) -> const Summary& { return row.summary; });
  columns.add(data_column("last_kib", Kind::size), [](const Over& row) { return row.at_ends.last_kib; });
  columns.add(display_column("LAST", Kind::size, 4), [](const Over& row) { return last_or_gone(row.at_ends); });
  columns.add({"growth_kib", "GROWTH", Kind::size, 3}, [](const Over& row) { return row.at_ends.growth_kib(); });
  columns.add({"category", "CATEGORY", Kind::text}, &Over::name);
  return columns;
}

Result<Report> over_range(const Context& context, Range range) {
  Report report = TRY(begin_range_report(context, range));
  const Metric by = metric_of(context);
  const Tier tier = TRY(tier_of(context, report, Reads::one));
  const auto columns = columns_over(std::string(to_string(by)), tier, context.options.zone);
  report.rows = make_table(columns, {});
  if (report.nothing_recorded) return report;
  std::map<std::string, Over> by_name;
  TRY(visit_groups(context.reader, {tier, SubjectKind::category, {}, range, {by}},
                   [&by_name](const std::string& name, const SubjectInterval& of) {
                     Over& row = by_name[name];
                     row.max_processes = std::max(row.max_processes, of.processes);
                     row.fold.add(of.interval);
                   }));
  const std::optional<RangeEnds> ends = TRY(load_ends(context, range));
  Changes changes("category");
  if (ends) TRY(changes.add(context.reader, Filter(), *ends));
  std::vector<Over> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    row.summary = row.fold.summary();
    row.mean_kib = mean_over(row.summary, report.coverage->recorded_ms);
    row.at_ends = memory_at_ends(changes.find(0, name), by);
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::greater(), &Over::mean_kib);
  report.title = fmt::format("{} of categories, ranked by mean", metric_title(by));
  const std::string of = fmt::format("mean {}", metric_title(by));
  limit_rows(rows, report, context, &Over::mean_kib, {.of = of});
  report.rows = make_table(columns, rows);
  mark_sorted(report.rows, "mean_kib");
  report_tier(tier, report);
  return report;
}

}  // namespace

Command categories_command() {
  return {.name = "categories",
          .summary = "categories with process counts and totals",
          .options = {Option::at, Option::from, Option::to, Option::last, Option::day, Option::by, Option::tier,
                      Option::limit},
          .by = names_of(metrics_with(
              [](const MetricInfo& info) { return info.kinds.contains(SubjectKind::category) && info.ranks; })),
          .examples = {{"memoir categories", "what each category uses now"},
                       {"memoir categories --day yesterday --by rss", "mean and maximum of each category, yesterday"}},
          .run = [](const Context& context) {
            return context.when.range ? over_range(context, *context.when.range) : at_one_time(context);
          }};
}

}  // namespace memoir::query
