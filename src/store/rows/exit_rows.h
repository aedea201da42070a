#pragma once

// Inserts how processes ended.

#include <cstdint>

#include "model/exit.h"
#include "store/sqlite/statement.h"

namespace memoir {

class EndRows {
 public:
  explicit EndRows(SQLite::Database& database);

  void insert(std::int64_t tick_id, std::int64_t process_id, const ProcessEnd& end);
  // Adds to the row of the tick that began its five minutes.
  void add(std::int64_t block_tick_id, std::int64_t cgroup_id, const EndSum& sum);

 private:
  Statement insert_;
  Statement add_;
};

}  // namespace memoir
