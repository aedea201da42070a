#pragma once

// Caches rollups of raw rows not rolled up yet, until the next tick. A reader needs them for every query, and
// computing them costs more than all else in many queries.

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "store/rollup/pass.h"
#include "store/sqlite/statement.h"

namespace memoir {

// The rollup of the ticks from the watermark to the end, or of the ticks between two ticks.
struct PendingRollup {
  std::int64_t at_ms = 0;  // wall time of its first tick
  Segment segment;
};

class PendingRollups {
 public:
  explicit PendingRollups(SQLite::Database& database) : database_(database) {}

  // Returns the rollups from a tick on, before `end`, with at least the subjects of that kind; nullptr if there are no
  // such ticks, or none in the range. Needs an open transaction; the result is valid until the next call.
  const PendingRollup* from(std::int64_t tick_id, std::optional<std::int64_t> end, Range range, SubjectKind kind);

 private:
  // The first tick, the end, and the kind of the subjects; nullopt: all kinds.
  using Key = std::tuple<std::int64_t, std::optional<std::int64_t>, std::optional<SubjectKind>>;

  SQLite::Database& database_;
  std::int64_t last_tick_id_ = 0;  // the cache is valid while this is the last tick
  bool large_ = false;             // all kinds together need too much memory
  std::map<Key, PendingRollup> kept_;
};

}  // namespace memoir
