#include <algorithm>
#include <fmt/format.h>

#include "analysis/grouping.h"
#include "query/commands/top/top.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/changes.h"
#include "query/state/filter_values.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"
#include "query/state/total.h"

namespace memoir::query {
namespace {

// A process or a group at one time: one end of a Change.
struct HeldRow : Change {
  std::int64_t at_ms = 0;
  std::optional<double> share = {};
};

const ProcessInfo* info_of(const HeldRow& row) {
  return &row.after->process->info;
}

// Hides a column from humans if it would contain only dashes, because a bucket lacks its values.
Shown shown_if(bool shown) {
  return shown ? Shown::everywhere : Shown::machines;
}

// Facts that determine the human-readable columns.
struct Known {
  bool of_bucket = false;
  bool hugetlb = false;  // some process has huge pages
};

bool lacks_hugetlb(Metric by) {
  return by == Metric::pss || by == Metric::rss || by == Metric::uss;
}

// Returns the value that ranks the row, which includes huge pages.
std::optional<std::int64_t> rank_kib(const HeldRow& row, Metric by) {
  const auto kib = row.is.kib(by);
  const auto hugetlb = lacks_hugetlb(by) ? row.is.kib(Metric::hugetlb) : std::nullopt;
  return hugetlb ? kib.value_or(0) + *hugetlb : kib;
}

Known known_of(const State& state) {
  const auto has_hugetlb = [](const ProcessUse& process) { return process.kib[Metric::hugetlb].value_or(0) > 0; };
  return {means_over(state).has_value(), std::ranges::any_of(state.processes, has_hugetlb)};
}

void add_metrics(Columns<HeldRow>& columns, Metric by, const Known& of) {
  for (const Metric metric : kMetrics) {
    const MetricInfo& info = memoir::info_of(metric);
    const bool ranked = metric == by;
    const bool has_values = !of.of_bucket || is_rolled_up(metric);
    const bool is_useful = info.top == TopColumn::everywhere || (metric == Metric::hugetlb && of.hugetlb);
    const Shown shown = shown_if(ranked || (has_values && is_useful));
    columns.add({std::string(info.column), std::string(info.header), Kind::size, ranked ? 0 : info.drop_order, shown},
                [metric](const HeldRow& row) { return row.is.kib(metric); });
  }
  columns.add({"share_percent", "SHARE", Kind::percent, 5}, &HeldRow::share);
}

Columns<HeldRow> process_columns(Metric by, const Known& of) {
  Columns<HeldRow> columns;
  add_process(columns, info_of);
  columns.add(data_column("state"), [](const HeldRow& row) {
    return row.after->sample == nullptr ? Value() : std::string(1, state_letter(*row.after));
  });
  add_metrics(columns, by, of);
  columns.add({"source", "SOURCE", Kind::text, 8, shown_if(!of.of_bucket)},
              [](const HeldRow& row) { return source_word(*row.after); });
  columns.add({"age_ms", "AGE", Kind::duration, 8, shown_if(!of.of_bucket)},
              [](const HeldRow& row) { return row.after->age_ms; });
  add_owner(columns, info_of, 9, 7);
  columns.add(display_column("COMMAND"), &HeldRow::name);
  return columns;
}

Columns<HeldRow> group_columns(const std::string& group, Metric by, const Known& of) {
  Columns<HeldRow> columns{
      {{"processes", "PROCS", Kind::count}, [](const HeldRow& row) { return row.is.processes(); }}};
  add_metrics(columns, by, of);
  columns.add({"exact_percent", "EXACT", Kind::percent, 8}, [](const HeldRow& row) { return row.is.exact_percent(); });
  columns.add(data_column("inexact", Kind::count), [](const HeldRow& row) { return row.is.inexact(); });
  add_group_name(columns, group);
  return columns;
}

// If some values are estimates, adds the bounds of PSS, and the minimum time for which it was unknown.
Status add_estimates(const Context& context, const std::string& group, const State& state, Columns<HeldRow>& columns) {
  const auto add_end = [&](const char* name, std::int64_t PssBounds::*end) {
    columns.add(data_column(name, Kind::size), [end](const HeldRow& row) -> Value {
      const auto bounds = row.is.pss_bounds();
      return bounds && row.is.kib(Metric::pss) ? Value((*bounds).*end) : Value();
    });
  };
  add_end("pss_low_kib", &PssBounds::min_kib);
  add_end("pss_high_kib", &PssBounds::max_kib);
  if (group != "process") return Done{};
  const auto since = TRY(estimated_since(context.reader, state));
  columns.add(data_column("estimated_ms", Kind::duration), [since](const HeldRow& row) -> Value {
    const auto found = since.find(row.after->process->id);
    return found == since.end() ? Value() : Value(row.at_ms - found->second);
  });
  return Done{};
}

// Returns the memory of all processes, including processes that rollups only have in groups.
std::optional<std::int64_t> whole_kib(const State& state, const Tally& all, Metric by) {
  const auto others = short_lived_kib(state, by);
  return others ? std::optional(all.kib(by).value_or(0) + *others) : all.kib(by);
}

void tell_short_lived(const State& state, Report& report, Units units) {
  const auto kib = short_lived_kib(state, Metric::pss);
  report.totals.push_back({"short_lived_pss_kib", "", Kind::size, kib});
  if (kib.value_or(0) > 0) report.notes.push_back(short_lived_note(": PSS " + format_size(*kib, units)));
}

}  // namespace

Result<Report> top_at(const Context& context) {
  const std::optional<State> loaded = TRY(load_state(context));
  const Filter filter = TRY(filter_at(context.options, loaded ? std::vector{&*loaded} : std::vector<const State*>()));
  const std::string group = context.options.group.value_or("process");
  const Metric by = parse_metric(context.options.by.value_or("pss")).value_or(Metric::pss);
  const Known of = loaded ? known_of(*loaded) : Known();
  auto columns = group == "process" ? process_columns(by, of) : group_columns(group, by, of);
  if (!loaded) return nothing_recorded(context, columns);
  const State& state = *loaded;
  Report report = TRY(begin_report(context, state,
                                   fmt::format("memory by {}, ranked by {}{}", group, metric_title(by),
                                               of.hugetlb && lacks_hugetlb(by) ? " and huge pages" : "")));

  Changes held(group);
  TRY(held.add(context.reader, filter, state, true));
  Tally all;
  Tally chosen;
  std::int64_t approximate = 0;
  std::vector<const StoredProcess*> processes;
  for (const ProcessUse& process : state.processes) {
    add_to(all, process);
    if (!filter.matches(*process.process)) continue;
    add_to(chosen, process);
    approximate += is_approximate(process) ? 1 : 0;
    processes.push_back(process.process);
  }
  if (group == "identity" && !of.of_bucket) report.titles = titles_of(processes);
  // Marks were reached at different times, so their sum is not a total, and a row has no share of it.
  const auto whole = by == Metric::hwm ? std::nullopt : whole_kib(state, all, by);
  std::vector<HeldRow> rows;
  rows.reserve(held.rows().size());
  for (Change& row : held.take()) {
    const auto share = share_percent(row.is.kib(by), whole);
    rows.push_back({std::move(row), state.at_ms, share});
  }
  std::ranges::stable_sort(rows, std::greater(), [by](const HeldRow& row) { return rank_kib(row, by); });

  TRY(report_total(chosen, state, context, report));
  tell_short_lived(state, report, context.options.units);
  const std::string note = TRY(approximate_note(context, state, approximate));
  if (!note.empty()) report.notes.push_back(note);
  limit_rows(rows, report, context, [by](const HeldRow& row) { return row.is.kib(by); },
             {.of = metric_title(by), .adds_up = by != Metric::hwm});
  if (chosen.estimates().processes > 0) TRY(add_estimates(context, group, state, columns));
  report.rows = make_table(columns, rows);
  mark_sorted(report.rows, memoir::info_of(by).column);
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

}  // namespace memoir::query
