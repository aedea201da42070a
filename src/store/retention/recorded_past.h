#pragma once

// The past by the recorder's own clock (stretch.recorded_ms), which retention uses. It advances with the boot clock,
// and across a reboot with the wall clock, by at most a day. Ages by this clock do not depend on changes to the wall
// clock. Pure.

#include <cstdint>
#include <utility>
#include <vector>

namespace memoir {

// A row of `stretch`: ticks without a gap and without a step of the wall clock between them.
struct RecordedSpan {
  std::int64_t run_id = 0;
  std::int64_t first_tick_id = 0;
  std::int64_t last_tick_id = 0;
  std::int64_t from_ms = 0;  // wall clock of the first tick
  std::int64_t to_ms = 0;    // wall clock of the last tick
  std::int64_t to_boot_ms = 0;
  std::int64_t recorded_ms = 0;  // recorder's own clock at the first tick

  std::int64_t ended_ms() const { return recorded_ms + (to_ms - from_ms); }
};

// Returns the number of the block with a wall time, from the epoch on. Rounds down, also before the epoch, where the
// clock of a machine without a battery may be.
std::int64_t block_of(std::int64_t wall_ms, std::int64_t block_ms);

// Numbers of the blocks of a tier that are kept: hours or days since the epoch, both ends included.
class BlockSet {
 public:
  using Blocks = std::pair<std::int64_t, std::int64_t>;

  // The blocks may be in any order, and may overlap.
  explicit BlockSet(std::vector<Blocks> kept = {});

  bool holds(std::int64_t block) const;
  // Returns the blocks before, between and after the kept ones.
  std::vector<Blocks> others() const;
  std::int64_t first() const;

 private:
  std::vector<Blocks> kept_;  // sorted, with at least one block between any two
};

class RecordedPast {
 public:
  // `spans` are in recording order.
  explicit RecordedPast(std::vector<RecordedSpan> spans = {}) : spans_(std::move(spans)) {}

  bool empty() const { return spans_.empty(); }
  // Returns the recorder's time at the last tick.
  std::int64_t now() const { return spans_.empty() ? 0 : spans_.back().ended_ms(); }

  // Each returns the recorder's time, at a tick or at a moment of a run; now() for a later time.
  std::int64_t at_tick(std::int64_t tick_id, std::int64_t wall_ms) const;
  std::int64_t at_moment(std::int64_t run_id, std::int64_t boot_ms) const;

  const std::vector<RecordedSpan>& spans() const { return spans_; }

  // Returns the stretches since a recorder's time, the first one clipped. Empty if there are none.
  std::vector<RecordedSpan> since(std::int64_t recorded_ms) const;

  // Returns the blocks that may contain rows recorded since then.
  BlockSet blocks_since(std::int64_t recorded_ms, std::int64_t block_ms) const;

 private:
  std::vector<RecordedSpan> spans_;
};

}  // namespace memoir
