#pragma once

// What was recorded, to be held against what the store answers.

#include <string>

#include "model/tick.h"
#include "random_history.h"
#include "store/reader.h"

namespace memoir::test {

struct Recorded {
  Tick tick;
  std::string boot_id;
  bool first = false;  // of its run
};

// Field for field.
void check_state(const Snapshot& snapshot, const Recorded& recorded);
// With what is known of each process.
void check(const Snapshot& snapshot, const Recorded& recorded, const RandomHistory::Infos& infos);

}  // namespace memoir::test
