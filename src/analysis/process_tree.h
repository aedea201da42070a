#pragma once

// Who began whom, of the processes at one time. Pure, and nothing calls itself: a chain may be as long as there are
// pids.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/grouping.h"

namespace memoir {

struct TreeProcess {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::uint64_t start_ticks = 0;
};

// Of each the index of its parent; absent of a root.
using Parents = std::vector<std::optional<std::size_t>>;

// Of processes of one boot. A root is whose parent is not among them, or began after it (its pid was used again); and
// one process of each cycle, which there may be since processes are read one after the other.
Parents parents_of(std::span<const TreeProcess> processes);

// Each once, below its parent, the subtrees unbroken. Siblings and roots come as in `ranked`, which has each once.
std::vector<std::size_t> depth_first(const Parents& parents, std::span<const std::size_t> ranked);

// What each holds with all that is below it; `held` is what it holds alone.
std::vector<Tally> subtree_sums(const Parents& parents, std::vector<Tally> held);

// For the rest parents come before their children.

// A root's is 0.
std::vector<std::size_t> depths_of(const Parents& parents);

// What is deeper than `deepest` stands beside its parent instead.
Parents no_deeper(Parents parents, std::size_t deepest);

// Those in `among` and all above them, or all below them.
std::vector<bool> with_ancestors(const Parents& parents, std::vector<bool> among);
std::vector<bool> with_descendants(const Parents& parents, std::vector<bool> among);

}  // namespace memoir
