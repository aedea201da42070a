// memoir tree: process tree at one time, with the memory of each process and of its subtree.

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <vector>

#include "analysis/process_tree.h"
#include "base/transformed.h"
#include "query/names/name_lookup.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/filter_values.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"
#include "query/state/total.h"

namespace memoir::query {
namespace {

struct TreeRow {
  const ProcessUse* process = nullptr;
  std::int32_t parent_pid = 0;
  Tally held;
  Tally subtree;  // sum over the process and all descendants
  std::size_t depth = 0;
  bool asked_for = true;  // false: shown only as an ancestor of another row
};

// Rows in drawing order: parents before their children, siblings with the largest subtree first.
struct Forest {
  std::vector<TreeRow> rows;
  Parents parents;
};

struct TreeMetric {
  Metric metric;
  int drop_order;
};
constexpr std::array kTreeMetrics{TreeMetric{Metric::pss, 2}, TreeMetric{Metric::uss, 4}, TreeMetric{Metric::rss, 5},
                                  TreeMetric{Metric::swap, 6}};
constexpr int kOtherSubtrees = 5;  // added to the drop order of subtree columns, which are dropped first

std::string subtree_column(Metric metric) {
  return fmt::format("subtree_{}", info_of(metric).column);
}

const ProcessInfo* process_of(const TreeRow& row) {
  return &row.process->process->info;
}

Columns<TreeRow> columns_of(Metric by) {
  Columns<TreeRow> columns;
  for (const auto& [metric, drop_order] : kTreeMetrics) {
    const MetricInfo& info = memoir::info_of(metric);
    const bool ranked = metric == by;
    columns.add({std::string(info.column), std::string(info.header), Kind::size, ranked ? 1 : drop_order},
                [metric = metric](const TreeRow& row) { return row.held.kib(metric); });
    columns.add({subtree_column(metric), fmt::format("TREE {}", info.header), Kind::size,
                 ranked ? 0 : drop_order + kOtherSubtrees},
                [metric = metric](const TreeRow& row) { return row.subtree.kib(metric); });
  }
  columns.add({"subtree_processes", "PROCS", Kind::count, 3},
              [](const TreeRow& row) { return row.subtree.processes(); });
  columns.add(data_column("subtree_exact_percent", Kind::percent),
              [](const TreeRow& row) { return row.subtree.exact_percent(); });
  columns.add(data_column("source"), [](const TreeRow& row) { return source_word(*row.process); });
  columns.add(data_column("state"), [](const TreeRow& row) { return std::string(1, state_letter(*row.process)); });
  columns.add(data_column("depth", Kind::count), &TreeRow::depth);
  columns.add(data_column("asked_for"), &TreeRow::asked_for);
  columns.add(data_column("parent_pid", Kind::count), &TreeRow::parent_pid);
  add_process(columns, process_of);
  columns.add(display_column("COMMAND"),
              [](const TreeRow& row) { return shown_command(*process_of(row), state_letter(*row.process)); });
  return columns;
}

// Returns indexes, the largest sum first. Equal sums stay in the given order.
template <typename GetTally>
std::vector<std::size_t> ranked(std::size_t count, Metric by, GetTally tally) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return tally(i).kib(by); });
  return order;
}

Forest forest_of(const State& state, Metric by) {
  const std::size_t count = state.processes.size();
  std::vector<TreeProcess> processes;
  std::vector<Tally> held(count);
  processes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ProcessSample& sample = *state.processes[i].sample;
    processes.push_back({sample.key.pid, sample.parent_pid, sample.key.start_ticks});
    add_to(held[i], state.processes[i]);
  }
  const Parents parents = parents_of(processes);
  const std::vector<Tally> sums = subtree_sums(parents, held);
  const auto order = depth_first(parents, ranked(count, by, [&](std::size_t i) -> const Tally& { return sums[i]; }));

  Forest forest;
  forest.rows.reserve(count);
  forest.parents.reserve(count);
  std::vector<std::size_t> place(count);
  for (const std::size_t i : order) {
    place[i] = forest.rows.size();
    const std::optional<std::size_t> parent = parents[i] ? std::optional(place[*parents[i]]) : std::nullopt;
    const std::size_t depth = parent ? forest.rows[*parent].depth + 1 : 0;
    forest.rows.push_back({&state.processes[i], state.processes[i].sample->parent_pid, held[i], sums[i], depth});
    forest.parents.push_back(parent);
  }
  return forest;
}

// Keeps only the rows in `kept`. A row below a dropped parent becomes a root.
void keep(Forest& forest, const std::vector<bool>& kept) {
  Forest left;
  std::vector<std::size_t> place(forest.rows.size());
  for (std::size_t i = 0; i < forest.rows.size(); ++i) {
    if (!kept[i]) continue;
    place[i] = left.rows.size();
    const auto parent = forest.parents[i];
    left.parents.push_back(parent && kept[*parent] ? std::optional(place[*parent]) : std::nullopt);
    left.rows.push_back(forest.rows[i]);
  }
  forest = std::move(left);
}

// Selects the `count` largest subtrees. A parent comes before its children, so that no row loses its parent.
std::vector<bool> largest(const Forest& forest, std::size_t count, Metric by) {
  const auto order =
      ranked(forest.rows.size(), by, [&](std::size_t i) -> const Tally& { return forest.rows[i].subtree; });
  std::vector<bool> among(forest.rows.size());
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) among[order[i]] = true;
  return among;
}

constexpr std::string_view kParentsGone =
    "the ticks of {} have expired, and rollups have no parents; memoir top --at shows the memory of each process";

// SUBJECT selects processes with all their descendants. --filter selects the matching processes among them.
Status mark_asked_for(const Context& context, const State& state, const Filter& filter, Forest& forest) {
  std::vector<bool> among(forest.rows.size(), true);
  if (!context.options.subjects.empty()) {
    const std::set<std::int64_t> ids = TRY(subject_ids(context, state));
    for (std::size_t i = 0; i < among.size(); ++i) among[i] = ids.contains(forest.rows[i].process->process->id);
    among = with_descendants(forest.parents, std::move(among));
  }
  for (std::size_t i = 0; i < among.size(); ++i)
    forest.rows[i].asked_for = among[i] && filter.matches(*forest.rows[i].process->process);
  return Done{};
}

// Keeps the selected processes, with their ancestors. Returns their sum.
Tally keep_asked_for(Forest& forest) {
  Tally total;
  std::vector<bool> asked_for;
  asked_for.reserve(forest.rows.size());
  for (const TreeRow& row : forest.rows) {
    if (row.asked_for) total.add(row.held);
    asked_for.push_back(row.asked_for);
  }
  keep(forest, with_ancestors(forest.parents, std::move(asked_for)));
  return total;
}

// Shows the largest subtrees, and notes the memory of the omitted processes.
void limit_forest(const Context& context, Metric by, Forest& forest, Report& report) {
  const std::size_t all = forest.rows.size();
  const std::vector<bool> kept = largest(forest, limited(context, all), by);
  std::int64_t kib = 0;
  for (std::size_t i = 0; i < all; ++i) kib += kept[i] ? 0 : forest.rows[i].held.kib(by).value_or(0);
  keep(forest, kept);
  note_cut(report, {.shown = forest.rows.size(), .all = all, .kib = kib, .of = metric_title(by)},
           context.options.units);
}

void warn_of_depth(const Forest& forest, Report& report) {
  const auto deeper = std::ranges::count_if(forest.rows, [](const TreeRow& row) { return row.depth > kDeepestRow; });
  if (deeper == 0) return;
  report.warnings.push_back(
      fmt::format("{} more than {} levels deep and shown at that level; parent_pid and depth are correct",
                  format_count(deeper, "process is", "processes are"), kDeepestRow));
}

Result<Report> show_tree(const Context& context, const State& state, const Columns<TreeRow>& columns, Metric by) {
  const Filter filter = TRY(filter_at(context.options, {&state}));
  Forest forest = forest_of(state, by);
  TRY(mark_asked_for(context, state, filter, forest));
  const Tally total = keep_asked_for(forest);
  Report report = TRY(
      begin_report(context, state, fmt::format("process tree, ranked by the {} of each subtree", metric_title(by))));
  TRY(report_total(total, state, context, report));
  limit_forest(context, by, forest, report);
  warn_of_depth(forest, report);
  const bool some = !filter.takes_all() || !context.options.subjects.empty();
  report.rows = make_table<TreeRow>(
      columns, forest.rows, [some](const TreeRow& row) { return some && row.asked_for ? Tone::marked : Tone::plain; });
  report.rows.parents = std::move(forest.parents);
  mark_sorted(report.rows, subtree_column(by));
  report_state(state, context.when.at_ms.value_or(*report.at_ms), context.options.zone, report);
  return report;
}

Result<Report> run_tree(const Context& context) {
  TRY(Filter::parse(context.options.filters));
  const Metric by = parse_metric(context.options.by.value_or("pss")).value_or(Metric::pss);
  const auto columns = columns_of(by);
  return answer_at_tick(context, {}, columns, kParentsGone,
                        [&](const State& state, const StoredTick&) { return show_tree(context, state, columns, by); });
}

}  // namespace

Command tree_command() {
  return {.name = "tree",
          .summary = "process tree at a time, memory per subtree",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::by, Option::filter, Option::limit, Option::ascii},
          .by = names_of(transformed(kTreeMetrics, &TreeMetric::metric)),
          .examples = {{"memoir tree --at 03:14", "memory at 03:14 by service, children included"},
                       {"memoir tree nginx --by swap", "the master and its workers, ranked by what is swapped out"}},
          .run = run_tree,
          .subject_help = fmt::format("SUBJECT: show its ancestors and descendants: {}; default: all", kSubjectForms),
          .subject_words = {std::string(kCategoryNames)}};
}

}  // namespace memoir::query
