#pragma once

// The state at a tick, kept from one tick to the next: the next tick costs only its own rows, while load_snapshot()
// reads the rows of up to an hour. At every tick, the state equals the result of load_snapshot().

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/replay/process_states.h"
#include "store/replay/snapshot.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

class SnapshotReplay {
 public:
  explicit SnapshotReplay(SQLite::Database& database);

  // Both need an open transaction. If the tick is not recorded, they return false and keep the state. An exception
  // leaves no state; load() builds a new one.
  bool load(std::int64_t tick_id);
  bool next();
  // Continues from a state that was loaded from the present content of this file.
  void start(Snapshot snapshot);

  // Returns 0 without a state.
  std::int64_t tick_id() const { return keyframe_id_ == 0 ? 0 : snapshot_.tick.id; }
  const Snapshot& snapshot() const { return snapshot_; }

 private:
  using Processes = std::vector<ProcessState>;

  void apply_machine(std::int64_t tick_id);
  void apply_groups(std::int64_t tick_id);
  void apply_processes(std::int64_t keyframe_id);
  // Returns the sample to which a row applies. A process without a previous sample is read completely, and nullptr is
  // returned.
  ProcessSample* changed(std::int64_t process_id, std::int64_t keyframe_id);
  void erase(std::int64_t process_id);
  // Adds and removes the processes of a tick at once, because each single insertion would move the others.
  void merge();
  void refresh_processes();

  SQLite::Database& database_;
  Statement version_;
  Statement tick_;
  Statement hot_machine_;
  Statement cold_machine_;
  Statement has_other_;
  Statement categories_;
  Statement cgroups_;
  Statement hot_;
  Statement readings_;
  Statement cold_;
  Statement gone_;
  Statement process_;
  std::optional<ProcessStates> states_;  // reads new processes
  std::int64_t data_version_ = -1;
  std::int64_t keyframe_id_ = 0;  // 0: no state
  Snapshot snapshot_;
  std::unordered_map<std::int64_t, ProcessKey> keys_;  // keys of the processes, by their rows
  Processes added_;                                    // processes added by the current tick
  std::unordered_set<std::int64_t> erased_;            // rows of the processes removed by the current tick
};

}  // namespace memoir
