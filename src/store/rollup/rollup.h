#pragma once

// Writes the rollups, a step at a time: the ticks of an hour are turned into buckets in memory, and those written in
// short transactions, each with the mark of how far it came. Killed anywhere, the step is computed again from the raw
// rows, and goes on where the mark says: nothing is lost, nothing counted twice.

#include <cstdint>
#include <deque>
#include <optional>

#include "store/rollup/pass.h"
#include "store/rollup/rows.h"
#include "store/sqlite/statement.h"

namespace memoir {

// The row of rollup_mark.
struct RollupMark {
  std::int64_t tick_id = 0;  // the first that is not rolled up; 0 if there never was one
  std::int64_t target_tick_id = 0;
  std::int64_t next_subject = 0;
  std::int64_t next_subject_id = 0;

  bool half_written() const { return target_tick_id > tick_id; }
};

RollupMark rollup_mark(SQLite::Database& database);

class Rollup {
 public:
  explicit Rollup(SQLite::Database& database);

  // Whether there is something to write: an hour is over, or a step half written.
  bool due();
  // Rolls up to the last tick although its hour is not over, as when raw rows have to go soon.
  void hurry() { hurry_ = true; }

  // Prepares what is due, without writing; and writes the next piece of it, in the open transaction. True as long as
  // there is more. After a transaction that failed, forget() what was prepared.
  void prepare();
  bool write_piece();
  void forget() { segment_.reset(); }

 private:
  struct Tables {
    Tables(SQLite::Database& database, const TierShape& of_tier)
        : shape(of_tier), machine(database, shape.tier), memory(database, shape.tier) {}
    const TierShape& shape;
    RollupTable<1> machine;
    RollupTable<kRollupMetrics> memory;
  };

  std::optional<std::int64_t> target(const RollupMark& mark);
  void write_machine();
  void write_memory();
  void note_seen(const MemoryPiece& piece);
  void write_end();
  void set_mark(const RollupMark& mark);

  SQLite::Database& database_;
  std::deque<Tables> tiers_;
  Statement mark_;
  Statement first_from_;
  Statement last_;
  Statement seen_identity_;
  Statement seen_cgroup_;
  std::optional<Segment> segment_;
  MemoryPieces::const_iterator next_;  // of segment_->memory: to be written
  bool machine_written_ = false;
  bool hurry_ = false;
};

}  // namespace memoir
