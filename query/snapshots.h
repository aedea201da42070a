#pragma once

// Snapshots by time, each rebuilt once.

#include <cstdint>
#include <map>

#include "store/reader.h"

namespace memoir::query {

class Snapshots {
 public:
  explicit Snapshots(Reader& reader) : reader_(reader) {}

  // Of the last tick at or before `at_ms`; null if there is none. It stays until this object ends.
  Result<const Snapshot*> at(std::int64_t at_ms);

 private:
  Reader& reader_;
  std::map<std::int64_t, Snapshot> by_tick_;
};

}  // namespace memoir::query
