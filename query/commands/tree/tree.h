#pragma once

// memoir tree: who began whom at one time, and what each process held alone and with all below it.

#include <cstddef>
#include <vector>

#include "analysis/process_tree.h"
#include "query/answer/command.h"
#include "query/answer/state.h"

namespace memoir::query {

struct TreeRow {
  const HeldProcess* process = nullptr;
  Tally held;
  Tally subtree;  // with all that is below it
  std::size_t depth = 0;
  bool asked_for = true;  // else it is shown as a parent
};

// As it is drawn: parents before their children, siblings with the largest subtree first.
struct Forest {
  std::vector<TreeRow> rows;
  Parents parents;
};

// Of a tick.
Forest forest_of(const State& state, Metric by);

// Leaves some rows. Whose parent is not among them becomes a root.
void keep(Forest& forest, const std::vector<bool>& kept);

// The `count` largest subtrees. A parent has a place before its children, so that no row loses its own.
std::vector<bool> largest(const Forest& forest, std::size_t count, Metric by);

}  // namespace memoir::query
