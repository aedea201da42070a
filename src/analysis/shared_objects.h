#pragma once

// The ledgers of several processes as one: what is mapped, and by whom. Pure.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/mapping.h"

namespace memoir {

// A process that maps an object.
struct Consumer {
  ProcessKey process;
  std::int64_t regions = 0;
  std::int64_t pss_kib = 0;

  bool operator==(const Consumer&) const = default;
};

struct SharedObject {
  MappingRow row;                   // summed over the processes
  std::vector<Consumer> consumers;  // the largest PSS first, then by process
};

struct SharedObjects {
  std::vector<SharedObject> objects;  // sorted as the rows of a ledger
  // What the ledgers sum without a label: of which objects it is, and of whose, is not known.
  std::array<MappingUse, kMappingKinds> others;
};

// A process has one ledger at most.
SharedObjects fold_objects(std::span<const ProcessLedger> ledgers);

}  // namespace memoir
