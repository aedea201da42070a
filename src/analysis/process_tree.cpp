#include "analysis/process_tree.h"

#include <numeric>
#include <unordered_map>

namespace memoir {
namespace {

// Makes one process of each cycle a root. Each walk goes up to a root or to a process of an earlier walk; reaching a
// process of the same walk means that there is a cycle.
void cut_cycles(Parents& parents) {
  const std::size_t never = parents.size();
  std::vector<std::size_t> seen_by(parents.size(), never);
  for (std::size_t walk = 0; walk < parents.size(); ++walk) {
    std::optional<std::size_t> at = walk;
    while (at && seen_by[*at] == never) {
      seen_by[*at] = walk;
      at = parents[*at];
    }
    if (at && seen_by[*at] == walk) parents[*at].reset();
  }
}

}  // namespace

Parents parents_of(std::span<const TreeProcess> processes) {
  std::unordered_map<std::int32_t, std::size_t> index;
  index.reserve(processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) index[processes[i].pid] = i;
  Parents parents(processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const auto parent = index.find(processes[i].parent_pid);
    const bool older = parent != index.end() && processes[parent->second].start_ticks <= processes[i].start_ticks;
    if (older) parents[i] = parent->second;
  }
  cut_cycles(parents);
  return parents;
}

std::vector<std::size_t> depth_first(const Parents& parents, std::span<const std::size_t> ranked) {
  const std::size_t none = parents.size();
  // The last entry has the roots. Each list is in reverse order.
  std::vector<std::vector<std::size_t>> children(parents.size() + 1);
  for (std::size_t at = ranked.size(); at-- > 0;) children[parents[ranked[at]].value_or(none)].push_back(ranked[at]);
  std::vector<std::size_t> order;
  order.reserve(parents.size());
  for (std::vector<std::size_t> next = std::move(children[none]); !next.empty();) {
    const std::size_t at = next.back();
    next.pop_back();
    order.push_back(at);
    next.insert(next.end(), children[at].begin(), children[at].end());
  }
  return order;
}

std::vector<Tally> subtree_sums(const Parents& parents, std::vector<Tally> held) {
  std::vector<std::size_t> all(parents.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::size_t> order = depth_first(parents, all);
  for (; !order.empty(); order.pop_back()) {
    const std::size_t last = order.back();
    if (parents[last]) held[*parents[last]].add(held[last]);
  }
  return held;
}

std::vector<std::size_t> depths_of(const Parents& parents) {
  std::vector<std::size_t> depths;
  depths.reserve(parents.size());
  for (const auto& parent : parents) depths.push_back(parent ? depths[*parent] + 1 : 0);
  return depths;
}

Parents no_deeper(Parents parents, std::size_t deepest) {
  std::vector<std::size_t> depths;
  depths.reserve(parents.size());
  for (auto& parent : parents) {
    if (parent && depths[*parent] == deepest) parent = parents[*parent];
    depths.push_back(parent ? depths[*parent] + 1 : 0);
  }
  return parents;
}

std::vector<bool> with_ancestors(const Parents& parents, std::vector<bool> among) {
  for (std::size_t i = parents.size(); i-- > 0;) {
    if (among[i] && parents[i]) among[*parents[i]] = true;
  }
  return among;
}

std::vector<bool> with_descendants(const Parents& parents, std::vector<bool> among) {
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] && among[*parents[i]]) among[i] = true;
  }
  return among;
}

}  // namespace memoir
