#include <algorithm>
#include <numeric>

#include "query/commands/tree/tree.h"

namespace memoir::query {
namespace {

// Indexes, the largest sum first; of the same sum as they come.
template <typename GetTally>
std::vector<std::size_t> ranked(std::size_t count, Metric by, GetTally tally) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return tally(i).kib(by); });
  return order;
}

}  // namespace

Forest forest_of(const State& state, Metric by) {
  const std::size_t count = state.processes.size();
  std::vector<TreeProcess> processes;
  std::vector<Tally> held(count);
  processes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ProcessSample& sample = state.processes[i].tick->sample;
    processes.push_back({sample.key.pid, sample.parent_pid, sample.key.start_ticks});
    held[i].add(sample, state.processes[i].family);
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
    forest.rows.push_back({&state.processes[i], held[i], sums[i], depth});
    forest.parents.push_back(parent);
  }
  return forest;
}

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

std::vector<bool> largest(const Forest& forest, std::size_t count, Metric by) {
  const auto order =
      ranked(forest.rows.size(), by, [&](std::size_t i) -> const Tally& { return forest.rows[i].subtree; });
  std::vector<bool> among(forest.rows.size());
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) among[order[i]] = true;
  return among;
}

}  // namespace memoir::query
