#pragma once

// The recorded truth, to compare with the store's answers.

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
// With the fields of each process.
void check(const Snapshot& snapshot, const Recorded& recorded, const RandomHistory::Infos& infos);

}  // namespace memoir::test
