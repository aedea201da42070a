#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "analysis/grouping.h"
#include "query/commands/top/top.h"
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

// A process or a group at one time: what Change has of an end.
struct HeldRow : Change {
  std::int64_t at_ms = 0;
  std::optional<double> share = {};
};

const ProcessInfo* info_of(const HeldRow& row) {
  return &row.after->process->info;
}

void add_metrics(Columns<HeldRow>& columns, Metric by) {
  for (const Metric metric : kMetrics) {
    const MetricInfo& info = memoir::info_of(metric);
    const bool ranked = metric == by;
    const Shown shown = ranked || info.top == TopColumn::everywhere ? Shown::everywhere : Shown::machines;
    columns.add({std::string(info.column), std::string(info.header), Kind::size, ranked ? 0 : info.drop_order, shown},
                [metric](const HeldRow& row) { return row.is.kib(metric); });
  }
  columns.add({"share_percent", "SHARE", Kind::percent, 5}, &HeldRow::share);
}

Columns<HeldRow> process_columns(Metric by) {
  Columns<HeldRow> columns;
  add_process(columns, info_of);
  columns.add(for_machines("state"), [](const HeldRow& row) {
    const auto letter = known_state(*row.after);
    return letter ? Value(std::string(1, *letter)) : Value();
  });
  add_metrics(columns, by);
  columns.add({"source", "SOURCE", Kind::text, 8}, [](const HeldRow& row) { return source_word(*row.after); });
  columns.add(for_machines("age_ms", Kind::duration), [](const HeldRow& row) { return age_ms(*row.after, row.at_ms); });
  add_owner(columns, info_of, 9, 7);
  columns.add(for_people("COMMAND"), &HeldRow::name);
  return columns;
}

Columns<HeldRow> group_columns(const std::string& group, Metric by) {
  Columns<HeldRow> columns{
      {{"processes", "PROCS", Kind::count}, [](const HeldRow& row) { return row.is.processes(); }}};
  add_metrics(columns, by);
  columns.add({"exact_percent", "EXACT", Kind::percent, 8}, [](const HeldRow& row) { return row.is.exact_percent(); });
  columns.add(for_machines("inexact", Kind::count), [](const HeldRow& row) { return row.is.inexact(); });
  add_group_name(columns, group);
  return columns;
}

// Where some are estimates: between which PSS is, and for how long at least it was not known.
Status add_estimates(const Context& context, const std::string& group, const State& state, Columns<HeldRow>& columns) {
  const auto add_end = [&](const char* name, std::int64_t PssBounds::*end) {
    columns.add(for_machines(name, Kind::size), [end](const HeldRow& row) -> Value {
      const auto bounds = row.is.pss_bounds();
      return bounds && row.is.kib(Metric::pss) ? Value((*bounds).*end) : Value();
    });
  };
  add_end("pss_low_kib", &PssBounds::least_kib);
  add_end("pss_high_kib", &PssBounds::most_kib);
  if (group != "process") return Done{};
  const auto since = TRY(estimated_since(context.reader, state));
  columns.add(for_machines("estimated_ms", Kind::duration), [since](const HeldRow& row) -> Value {
    const auto found = since.find(row.after->process->id);
    return found == since.end() ? Value() : Value(row.at_ms - found->second);
  });
  return Done{};
}

// All that processes held, those included of which rollups know no more than their groups.
std::optional<std::int64_t> whole_kib(const State& state, const Tally& all, Metric by) {
  const auto others = short_lived_kib(state, by);
  return others ? std::optional(all.kib(by).value_or(0) + *others) : all.kib(by);
}

void tell_short_lived(const State& state, Report& report, Units units) {
  const auto kib = short_lived_kib(state, Metric::pss);
  report.totals.push_back({"short_lived_pss_kib", "", Kind::size, kib});
  if (kib.value_or(0) > 0) {
    report.notes.push_back(fmt::format(
        "Processes younger than a bucket, which have rollups in their groups only: PSS {}.", print_size(*kib, units)));
  }
}

}  // namespace

Result<Report> top_at(const Context& context) {
  const std::optional<State> loaded = TRY(load_state(context));
  const Filter filter = TRY(filter_at(context.options, loaded ? std::vector{&*loaded} : std::vector<const State*>()));
  const std::string group = context.options.group.value_or("process");
  const Metric by = parse_metric(context.options.by.value_or("pss")).value_or(Metric::pss);
  auto columns = group == "process" ? process_columns(by) : group_columns(group, by);
  if (!loaded) return nothing_recorded(context, columns);
  const State& state = *loaded;
  Report report = TRY(begin_report(context, state, fmt::format("memory by {}, ranked by {}", group, metric_title(by))));

  Changes held(group);
  TRY(held.add(context.reader, filter, state, true));
  Tally all;
  Tally chosen;
  for (const HeldProcess& process : state.processes) {
    add_to(all, process);
    if (filter.matches(*process.process)) add_to(chosen, process);
  }
  // Marks were reached at different times: they have no total to share.
  const auto whole = by == Metric::hwm ? std::nullopt : whole_kib(state, all, by);
  std::vector<HeldRow> rows;
  rows.reserve(held.rows().size());
  for (Change& row : held.take()) {
    const auto share = share_percent(row.is.kib(by), whole);
    rows.push_back({std::move(row), state.at_ms, share});
  }
  std::ranges::stable_sort(rows, std::greater(), [by](const HeldRow& row) { return row.is.kib(by); });

  TRY(report_total(chosen, state, context, report));
  tell_short_lived(state, report, context.options.units);
  limit_rows(rows, report, context, [by](const HeldRow& row) { return row.is.kib(by); },
             {.of = metric_title(by), .adds_up = by != Metric::hwm});
  if (chosen.estimates().processes > 0) TRY(add_estimates(context, group, state, columns));
  report.rows = make_table(columns, rows);
  mark_sorted(report.rows, memoir::info_of(by).column);
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

}  // namespace memoir::query
