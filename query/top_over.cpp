#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

#include "analysis/grouping.h"
#include "analysis/ranking.h"
#include "query/filter.h"
#include "query/format.h"
#include "query/limit.h"
#include "query/moment.h"
#include "query/process_columns.h"
#include "query/top.h"

namespace memoir::query {
namespace {

// What is folded of one process, or of the members of a group.
struct Row {
  std::string name;
  const StoredProcess* process = nullptr;  // of a row that is one process
  std::int64_t processes = 0;
  Fold fold;     // of one process
  GroupSum sum;  // of a group
  Summary summary;
  std::optional<std::int64_t> mean_kib;  // over all the time that was recorded: who was not there held nothing
  std::optional<double> share;
};

using Columns = std::vector<ColumnOf<Row>>;

const ProcessInfo* info_of(const Row& row) {
  return row.process == nullptr ? nullptr : &row.process->info;
}

// Rows in the making, and which process goes into which.
struct Plan {
  std::vector<Row> rows;
  std::unordered_map<std::int64_t, std::size_t> row_of;              // process id → row; others are filtered out
  std::unordered_map<std::int64_t, const StoredProcess*> processes;  // all
};

Plan make_plan(const std::vector<StoredProcess>& processes, const Filter& filter, const std::string& group) {
  Plan plan;
  std::map<std::string, std::size_t> index;
  for (const StoredProcess& process : processes) {
    plan.processes[process.id] = &process;
    if (!filter.matches(process.info)) continue;
    const bool alone = group == "process";
    std::size_t at = plan.rows.size();
    const std::string name = alone ? shown_command(process.info, '?') : group_key(process, group);
    if (!alone) at = index.emplace(name, at).first->second;
    if (at == plan.rows.size()) {
      Row& row = plan.rows.emplace_back();
      row.name = name;
      if (alone) row.process = &process;
    }
    ++plan.rows[at].processes;
    plan.row_of[process.id] = at;
  }
  return plan;
}

// Marks do not add up, and have no mean: the largest counts, from when it was first seen.
void see_mark(Summary& summary, std::optional<std::int64_t> mark, std::int64_t at_ms) {
  if (!mark || (summary.max && *mark <= *summary.max)) return;
  summary.max = mark;
  summary.max_at_ms = at_ms;
}

// KiB × ms.
struct Held {
  double all = 0;     // by all processes
  double chosen = 0;  // by those that the filter takes
  double exact = 0;   // of chosen: read exactly
};

// Feeds every step to its row.
Result<Held> fold_steps(const Context& context, Range range, Metric metric, Plan& plan) {
  Held held;
  const Status read = context.reader.process_steps(range, [&](const ProcessStep& step) {
    const auto value = metric_kib(step.sample->memory, metric);
    const double weight = static_cast<double>(value.value_or(0)) * static_cast<double>(step.until_ms - step.at_ms);
    held.all += weight;
    const auto at = plan.row_of.find(step.process_id);
    if (at == plan.row_of.end()) return;
    held.chosen += weight;
    if (step.sample->source == Source::exact || step.sample->source == Source::held) held.exact += weight;
    Row& row = plan.rows[at->second];
    if (metric == Metric::hwm) {
      see_mark(row.summary, value, step.at_ms);
      return;
    }
    const Step folded{step.at_ms, step.until_ms, value};
    if (row.process != nullptr) {
      row.fold.add(folded);
    } else {
      row.sum.add(step.process_id, folded, plan.processes[step.process_id]->gone_ms == step.until_ms);
    }
  });
  if (!read) return read.error();
  return held;
}

void summarise_row(Row& row, std::int64_t recorded_ms, double whole) {
  row.summary = row.process != nullptr ? row.fold.summary() : row.sum.summary();
  row.mean_kib = mean_over(row.summary, recorded_ms);
  const double held = row.summary.mean.value_or(0) * static_cast<double>(row.summary.covered_ms);
  if (whole > 0) row.share = 100.0 * held / whole;
}

void describe_total(Report& report, const Held& held, Metric metric, std::size_t processes, Units units) {
  const auto count = static_cast<std::int64_t>(processes);
  const std::int64_t recorded_ms = report.coverage->recorded_ms;
  report.totals.push_back({"processes", "", Kind::count, count});
  if (processes == 0) report.notes.emplace_back("No process matches.");
  if (recorded_ms <= 0 || held.chosen <= 0) return;
  const auto mean_kib = std::llround(held.chosen / static_cast<double>(recorded_ms));
  const double exact = 100.0 * held.exact / held.chosen;
  report.totals.push_back({"mean_kib", "", Kind::size, std::int64_t{mean_kib}});
  report.totals.push_back({"exact_percent", "", Kind::percent, exact});
  report.notes.push_back(fmt::format("{}: mean {} {} ({} of it exact).", print_count(count, "process", "processes"),
                                     metric_title(metric), print_size(mean_kib, units), print_exact(exact)));
}

std::optional<std::int64_t> rank_value(const Row& row, bool by_growth, bool by_mark) {
  if (by_growth) return row.summary.growth();
  return by_mark ? row.summary.max : row.mean_kib;
}

// Of marks there is only the largest, and when.
Columns columns_of(const std::string& group, bool by_growth, Metric by_metric) {
  const Shown sums = by_metric == Metric::hwm ? Shown::machines : Shown::everywhere;
  const std::string metric(to_string(by_metric));
  Columns columns;
  if (group == "process") {
    columns.push_back(
        {{"pid", "PID", Kind::count}, [](const Row& row) { return Value(std::int64_t{row.process->info.key.pid}); }});
    add_identity_for_machines(columns, info_of);
  } else {
    columns.push_back({{"processes", "PROCS", Kind::count}, [](const Row& row) { return Value(row.processes); }});
  }
  columns.push_back({{"metric", "", Kind::text, 0, Shown::machines}, [metric](const Row&) { return Value(metric); }});
  columns.push_back(
      {{"mean_kib", "MEAN", Kind::size, by_growth ? 3 : 0, sums}, [](const Row& row) { return maybe(row.mean_kib); }});
  columns.push_back({{"max_kib", "MAX", Kind::size, 1}, [](const Row& row) { return maybe(row.summary.max); }});
  columns.push_back({{"max_at_ms", "MAX AT", Kind::time, 2},
                     [](const Row& row) { return row.summary.max ? Value(row.summary.max_at_ms) : Value(); }});
  columns.push_back(
      {{"first_kib", "", Kind::size, 0, Shown::machines}, [](const Row& row) { return maybe(row.summary.first); }});
  columns.push_back(
      {{"last_kib", "LAST", Kind::size, 5, sums}, [](const Row& row) { return maybe(row.summary.last); }});
  columns.push_back({{"growth_kib", "GROWTH", Kind::size, by_growth ? 0 : 4, sums},
                     [](const Row& row) { return maybe(row.summary.growth()); }});
  columns.push_back({{"known_ms", "", Kind::duration, 0, Shown::machines},
                     [](const Row& row) { return Value(row.summary.covered_ms); }});
  columns.push_back(
      {{"share_percent", "SHARE", Kind::percent, 6, sums}, [](const Row& row) { return maybe(row.share); }});
  if (group == "process") {
    columns.push_back({{"", "COMMAND", Kind::text, 0, Shown::people}, [](const Row& row) { return Value(row.name); }});
    return columns;
  }
  add_group_name(columns, group);
  return columns;
}

}  // namespace

Result<Report> top_over(const Context& context, Range range) {
  const Result<Filter> filter = Filter::parse(context.options.filters);
  if (!filter) return filter.error();
  Result<Report> begun = begin_range_report(context, range);
  if (!begun) return begun;
  Report report = *std::move(begun);
  const std::string group = top_group(context.options);
  const std::string by = context.options.by.value_or("pss");
  const Metric metric = parse_metric(by).value_or(Metric::pss);
  const bool by_growth = by == "growth";
  const bool by_mark = metric == Metric::hwm;
  const Columns columns = columns_of(group, by_growth, metric);
  report.rows = make_table(columns, {});
  if (report.nothing_recorded) return report;
  const Result<std::vector<StoredProcess>> processes = context.reader.processes(range);
  if (!processes) return processes.error();

  Plan plan = make_plan(*processes, *filter, group);
  const Result<Held> held = fold_steps(context, range, metric, plan);
  if (!held) return held.error();
  if (!by_mark) {
    for (Row& row : plan.rows) summarise_row(row, report.coverage->recorded_ms, held->all);
    describe_total(report, *held, metric, plan.row_of.size(), context.options.units);
  }
  std::vector<Row>& rows = plan.rows;
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return ranks_before(rank_value(a, by_growth, by_mark), rank_value(b, by_growth, by_mark));
  });

  const char* ranking = by_growth ? "growth" : by_mark ? "maximum" : "mean";
  report.title = fmt::format("{} by {}, ranked by {}", metric_title(metric), group, ranking);
  const std::string of = fmt::format("{}{}", by_mark ? "" : "mean ", metric_title(metric));
  limit_rows(rows, report, context, [by_mark](const Row& row) { return by_mark ? row.summary.max : row.mean_kib; },
             {.of = of, .adds_up = !by_mark});
  report.rows = make_table(columns, rows);
  return report;
}

}  // namespace memoir::query
