#pragma once

// Reads the states of processes at a tick: each from its last row in each table, from the tick's keyframe on.

#include <cstdint>
#include <optional>
#include <vector>

#include "store/replay/process_reader.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

class ProcessStates {
 public:
  explicit ProcessStates(SQLite::Database& database);

  // Returns the processes that are alive at the tick, sorted by key.
  std::vector<ProcessState> all(const StoredTick& tick, std::int64_t keyframe_id);
  // Returns nullopt if the process is not recorded at the tick.
  std::optional<ProcessState> one(const StoredTick& tick, std::int64_t keyframe_id, std::int64_t process_id);

 private:
  // The ticks of a process's last rows; 0: it has none.
  struct LastRows {
    std::int64_t hot = 0;      // in process_sample
    std::int64_t cold = 0;     // in process_state
    std::int64_t reading = 0;  // in process_reading
  };

  std::optional<ProcessState> read(std::int64_t process_id, const StoredTick& tick, const LastRows& rows);

  SQLite::Database& database_;
  Statement state_;
  ProcessReader processes_;
};

}  // namespace memoir
