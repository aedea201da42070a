#pragma once

// The number of cases that a test of random histories, faults or mutations tries: a quarter of them, or all if
// MEMOIR_ALL_SEEDS is set, as scripts/nightly does.

#include <cstdlib>

namespace memoir::test {

inline bool all_trials() {
  static const bool all = std::getenv("MEMOIR_ALL_SEEDS") != nullptr;
  return all;
}

template <typename Count>
Count trials(Count all) {
  return all_trials() ? all : (all + 3) / 4;
}

}  // namespace memoir::test
