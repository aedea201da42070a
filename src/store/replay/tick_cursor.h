#pragma once

// Reads the rows of a table by tick, as a replay advances.

#include <cstdint>
#include <optional>
#include <string>

#include "store/sqlite/statement.h"

namespace memoir {

// Ids of the ticks of a range, from the tick that is valid at its start. An empty span is {1, 0}.
struct TickSpan {
  std::int64_t first = 1;
  std::int64_t last = 0;

  bool empty() const { return first > last; }
};

// Returns the keyframe from which the state at a tick is rebuilt.
std::int64_t keyframe_of(SQLite::Database& database, std::int64_t tick_id);

// Returns the id of the last tick; 0 without a tick.
std::int64_t last_tick_id(SQLite::Database& database);

// Returns "SELECT tick_id, COLUMNS FROM TABLE" for the rows of a span of ticks, of all processes or of one.
std::string rows_sql(const std::string& columns, const char* table, const char* order,
                     std::optional<std::int64_t> process_id = std::nullopt);

class TickCursor {
 public:
  // The first column of `sql` is the tick, its two parameters are the first and the last tick.
  TickCursor(SQLite::Database& database, const std::string& sql, const TickSpan& ticks);

  // Applies the remaining rows of the ticks up to this one.
  template <typename Apply>
  void apply_up_to(std::int64_t tick_id, Apply&& apply) {
    for (; more_ && statement_.integer(0) <= tick_id; more_ = statement_.step()) apply(statement_);
  }

 private:
  Statement statement_;
  bool more_ = false;
};

}  // namespace memoir
