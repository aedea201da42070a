#include "world/shrink.h"

#include <algorithm>

#include "world/trial.h"

namespace memoir::world {
namespace {

using Steps = std::vector<std::string>;
using Offset = Steps::difference_type;

bool violates(const Steps& steps, const Clause& clause) {
  Tally tally;
  run_trial(steps, "", {.law = clause.law}, tally);
  return tally.clauses[clause].violated > 0;
}

// Truncates to the shortest prefix that violates the clause, provided that longer ones violate it too.
void cut(Steps& steps, const Clause& clause) {
  std::size_t low = 0, high = steps.size();
  while (low + 1 < high) {
    const std::size_t middle = (low + high) / 2;
    const bool enough = violates(Steps(steps.begin(), steps.begin() + static_cast<Offset>(middle)), clause);
    (enough ? high : low) = middle;
  }
  steps.resize(high);
}

// Drops each part of this many steps that is not needed. Returns true if it dropped one.
bool drop(Steps& steps, std::size_t size, const Clause& clause) {
  bool dropped = false;
  for (std::size_t end = steps.size(); end > 0; end -= std::min(end, size)) {
    const std::size_t begin = end - std::min(end, size);
    Steps fewer(steps.begin(), steps.begin() + static_cast<Offset>(begin));
    fewer.insert(fewer.end(), steps.begin() + static_cast<Offset>(end), steps.end());
    if (!violates(fewer, clause)) continue;
    steps = std::move(fewer);
    dropped = true;
  }
  return dropped;
}

}  // namespace

Steps shrink(Steps steps, const Clause& clause) {
  if (!violates(steps, clause)) return steps;
  cut(steps, clause);
  for (std::size_t size = steps.size() / 2; size > 0; size = size == 1 ? 0 : size / 2) drop(steps, size, clause);
  while (drop(steps, 1, clause)) {
  }
  return steps;
}

}  // namespace memoir::world
