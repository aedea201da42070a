#pragma once

// Reads the properties of ticks that coverage needs, in order. Runs are few, so each is looked up once, at its start;
// a join would look it up for every tick.

#include <cstdint>

#include "store/replay/coverage.h"
#include "store/sqlite/statement.h"

namespace memoir {

class TickStamps {
 public:
  TickStamps(SQLite::Database& database, std::int64_t first_id, std::int64_t last_id);

  // Restarts with other ticks.
  void go_to(std::int64_t first_id, std::int64_t last_id);
  // Advances to the next tick; false at the end. A damaged page may have ticks in any order, which is an error.
  bool step();

  std::int64_t id() const { return id_; }
  bool keyframe() const { return keyframe_; }
  const TickStamp& mark() const { return mark_; }

 private:
  Statement ticks_;
  Statement run_;
  std::int64_t id_ = 0;  // id of the current tick; the next id is higher
  std::int64_t last_id_ = 0;
  bool keyframe_ = false;
  TickStamp mark_;
};

}  // namespace memoir
