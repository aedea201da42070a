#pragma once

// The truth about a recording, for comparison with the store's answers.

#include <string>

#include "model/tick.h"
#include "random_history.h"
#include "store/reader.h"

namespace memoir::test {

struct Recorded {
  Tick tick;
  std::string boot_id;
  bool first = false;  // the first tick of its run
};

// Compares the state field by field.
void check_state(const Snapshot& snapshot, const Recorded& recorded);
// Compares the state, and the ProcessInfo of each process.
void check(const Snapshot& snapshot, const Recorded& recorded, const RandomHistory::Infos& infos);

}  // namespace memoir::test
