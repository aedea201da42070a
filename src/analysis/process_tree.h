#pragma once

// Parents and children among the processes at one time. Pure, and without recursion, because a chain may be as long as
// the number of pids.

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

// Index of the parent of each process; nullopt for a root.
using Parents = std::vector<std::optional<std::size_t>>;

// Takes processes of one boot. A process is a root if its parent is unknown or started after it (so that the parent's
// pid was reused). One process of each cycle is a root, too; cycles occur because processes are read one after the
// other.
Parents parents_of(std::span<const TreeProcess> processes);

// Returns each process once, after its parent, so that subtrees are contiguous. Siblings and roots keep the order of
// `ranked`, which contains each process once.
std::vector<std::size_t> depth_first(const Parents& parents, std::span<const std::size_t> ranked);

// Returns the sum of each subtree; `held` has the values of single processes.
std::vector<Tally> subtree_sums(const Parents& parents, std::vector<Tally> held);

// The functions below require parents to precede their children in `parents`.

// Returns the depth of each process; 0 for a root.
std::vector<std::size_t> depths_of(const Parents& parents);

// Moves processes deeper than `deepest` up to the level of their parent.
Parents no_deeper(Parents parents, std::size_t deepest);

// Returns the processes in `among` with all their ancestors, or with all their descendants.
std::vector<bool> with_ancestors(const Parents& parents, std::vector<bool> among);
std::vector<bool> with_descendants(const Parents& parents, std::vector<bool> among);

}  // namespace memoir
