#pragma once

// What the raw rows make that are not rolled up yet. A reader asks for it with every question, and it costs more than
// the rest of many: it is kept until another tick is there.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "store/rollup/pass.h"
#include "store/sqlite/statement.h"

namespace memoir {

// Ticks from the watermark to the end, or between two.
struct RolledTail {
  std::int64_t at_ms = 0;  // wall time of its first tick
  Segment segment;
};

class RollupTails {
 public:
  explicit RollupTails(SQLite::Database& database) : database_(database) {}

  // From a tick on, before `end`; nullptr if there is none, or none in the range. In an open transaction; holds until
  // the next call.
  const RolledTail* from(std::int64_t tick_id, std::optional<std::int64_t> end, Range range);

 private:
  SQLite::Database& database_;
  std::int64_t last_tick_id_ = 0;  // what is kept holds as long as it is the last one
  std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, RolledTail> kept_;  // by where they begin and end
};

}  // namespace memoir
