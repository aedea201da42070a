#pragma once

// What coverage needs of the ticks, in their order. Of the runs, which are few, each is looked up where it begins: a
// join would do so for every tick.

#include <cstdint>

#include "store/replay/coverage.h"
#include "store/sqlite/statement.h"

namespace memoir {

class TickMarks {
 public:
  TickMarks(SQLite::Database& database, std::int64_t first_id, std::int64_t last_id);

  // Starts again with other ticks.
  void go_to(std::int64_t first_id, std::int64_t last_id);
  // To the next tick; false at the end. A damaged page may have ticks in any order, which is an error.
  bool step();

  std::int64_t id() const { return id_; }
  bool keyframe() const { return keyframe_; }
  const TickMark& mark() const { return mark_; }

 private:
  Statement ticks_;
  Statement run_;
  std::int64_t id_ = 0;  // the next one is higher
  std::int64_t last_id_ = 0;
  bool keyframe_ = false;
  TickMark mark_;
};

}  // namespace memoir
