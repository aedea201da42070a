#pragma once

// Writes the rollups in steps. The ticks of an hour (fewer if their subjects take too much memory) are turned into
// buckets in memory. These are written in short transactions, each with its progress. After a crash the step is
// computed again from the raw rows, and continues after the stored progress: nothing is lost or counted twice. If the
// recorder crashed while computing a step, the step is made smaller; after three crashes, only the machine is rolled
// up.

#include <cstdint>
#include <deque>
#include <optional>

#include "store/rollup/pass.h"
#include "store/rollup/rows.h"
#include "store/sqlite/statement.h"

namespace memoir {

// The row of rollup_progress.
struct RollupProgress {
  std::int64_t tick_id = 0;  // the first tick that is not rolled up; 0: nothing is rolled up yet
  std::int64_t target_tick_id = 0;
  std::int64_t next_subject = 0;
  std::int64_t next_subject_id = 0;
  std::int64_t attempts = 0;  // attempts to compute the next step, of which nothing is written yet

  bool half_written() const { return target_tick_id > tick_id; }
};

RollupProgress rollup_progress(SQLite::Database& database);

class Rollup {
 public:
  // Memory limit of the subjects of a step.
  static constexpr std::int64_t kStepBytes = 24LL * 1024 * 1024;

  explicit Rollup(SQLite::Database& database, std::int64_t step_bytes = kStepBytes);

  // Returns whether there is something to write: an hour is over, or a step is half written.
  bool due();
  // Rolls up to the last tick although its hour is not over, if raw rows must be deleted soon.
  void hurry() { hurry_ = true; }

  // prepare() computes the due step without writing. write_piece() writes the next piece of it in the open
  // transaction, and returns true while there is more. After a failed transaction, call forget().
  void prepare();
  bool write_piece();
  // Discards the prepared step. `failed`: the step would fail again, so the next attempt counts.
  void forget(bool failed = false) {
    segment_.reset();
    if (failed) attempted_ = -1;
  }
  // Returns whether the prepared step leaves out processes and groups, because computing them failed too often.
  bool skips_subjects() const { return segment_ && skips_subjects_; }

 private:
  struct Tables {
    Tables(SQLite::Database& database, const TierShape& of_tier)
        : shape(of_tier), machine(database, shape.tier), memory(database, shape.tier) {}
    const TierShape& shape;
    RollupTable<1> machine;
    RollupTable<kRollupMetrics> memory;
  };

  std::optional<std::int64_t> target(const RollupProgress& mark);
  void write_machine();
  void write_memory();
  void note_seen(const MemoryPiece& piece);
  void write_end();
  void set_mark(const RollupProgress& mark);
  PassLimits begin_attempt(const RollupProgress& mark);

  SQLite::Database& database_;
  const std::int64_t step_bytes_;
  std::deque<Tables> tiers_;
  Statement mark_;
  Statement first_from_;
  Statement last_;
  Statement seen_identity_;
  Statement seen_cgroup_;
  std::optional<Segment> segment_;
  MemoryPieces::const_iterator next_;  // next piece of segment_->memory to write
  std::int64_t target_ = 0;            // last tick that the prepared step was meant to reach
  std::int64_t attempted_ = -1;        // first tick of the step with a stored attempt by this recorder
  std::int64_t failures_ = 0;          // how often earlier recorders failed at that step
  bool skips_subjects_ = false;
  bool machine_written_ = false;
  bool hurry_ = false;
};

}  // namespace memoir
