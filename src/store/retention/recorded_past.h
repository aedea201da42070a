#pragma once

// The past as retention counts it: by the recorder's own clock (stretch.recorded_ms), which goes on as the boot clock
// does, over a time that nothing was recorded by at most a day. However the wall clock was set, what was recorded a
// week ago by this clock is a week old, and nothing else is. Pure.

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
  std::int64_t to_ms = 0;    // and of the last
  std::int64_t to_boot_ms = 0;
  std::int64_t recorded_ms = 0;  // at the first

  std::int64_t ended_ms() const { return recorded_ms + (to_ms - from_ms); }
};

// The number of the block that a wall time lies in, from the epoch on. Rounds down, before it as well: the clock of a
// machine without a battery may stand there.
std::int64_t block_of(std::int64_t wall_ms, std::int64_t block_ms);

// Numbers of the blocks that a tier keeps: hours or days since the epoch, both ends included.
class BlockSet {
 public:
  using Blocks = std::pair<std::int64_t, std::int64_t>;

  // In any order, overlapping or not.
  explicit BlockSet(std::vector<Blocks> kept = {});

  bool holds(std::int64_t block) const;
  // What lies before, between and after them.
  std::vector<Blocks> others() const;
  std::int64_t first() const;

 private:
  std::vector<Blocks> kept_;  // sorted, with at least one block between any two
};

class RecordedPast {
 public:
  // In the order of recording.
  explicit RecordedPast(std::vector<RecordedSpan> spans = {}) : spans_(std::move(spans)) {}

  bool empty() const { return spans_.empty(); }
  // The recorder's time at the last tick of the past.
  std::int64_t now() const { return spans_.empty() ? 0 : spans_.back().ended_ms(); }

  // The recorder's time at a tick, and at a moment of a run. Of what came later: now().
  std::int64_t at_tick(std::int64_t tick_id, std::int64_t wall_ms) const;
  std::int64_t at_moment(std::int64_t run_id, std::int64_t boot_ms) const;

  const std::vector<RecordedSpan>& spans() const { return spans_; }

  // What was recorded from a time of the recorder's on: its first stretch, clipped. Empty: nothing.
  std::vector<RecordedSpan> since(std::int64_t recorded_ms) const;

  // The blocks that something recorded since then can lie in.
  BlockSet blocks_since(std::int64_t recorded_ms, std::int64_t block_ms) const;

 private:
  std::vector<RecordedSpan> spans_;
};

}  // namespace memoir
