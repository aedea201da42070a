#pragma once

// Combines the mapping summaries of several processes into objects, each with the processes that map it. Pure.

#include <algorithm>
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
  MappingRow row;                   // sum over the processes
  std::vector<Consumer> consumers;  // sorted by PSS, the largest first, then by process
  std::int64_t largest_kib = 0;     // highest RSS that a consumer has of the object
  std::int64_t unswapped_kib = 0;   // allocated size of the object without swap; 0 if unknown

  // Memory of the object itself, including the PSS of processes without a mapping summary.
  std::int64_t memory_kib() const { return std::max({largest_kib, unswapped_kib, row.use.pss_kib()}); }
  // Estimates the number of processes that map the object, from its RSS and PSS. At least the number of consumers.
  std::int64_t mappers() const;
};

struct SharedObjects {
  std::vector<SharedObject> objects;  // sorted like the rows of a mapping summary
  // Sums over mappings that the summaries do not list by label, so their objects and processes are unknown.
  std::array<MappingUse, kMappingKinds> others;
};

// `summaries` must contain at most one per process.
SharedObjects fold_objects(std::span<const ProcessMappings> summaries);

}  // namespace memoir
