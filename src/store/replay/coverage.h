#pragma once

// Computes the recorded part of a range from the ticks in recording order. Pure.

#include <cstdint>
#include <string>
#include <vector>

#include "store/types.h"

namespace memoir {

// The properties of a tick that matter to coverage.
struct TickStamp {
  std::int64_t wall_ms = 0;
  std::int64_t boot_ms = 0;
  std::int64_t run_id = 0;
  std::int64_t boot_id = 0;
  std::int64_t interval_ms = 0;
  std::int64_t skipped = 0;
  std::string run_end;  // reason of the run's end; empty while the run goes on
};

// Returns the maximum distance of two ticks at which the time between them counts as recorded. The second tick may be
// late by half an interval, plus a second (or another half interval, if that is less) for a busy machine.
std::int64_t longest_step_ms(std::int64_t interval_ms);

// Returns whether consecutive ticks are too far apart: by the boot clock, or across boots by the wall clock.
bool is_gap(const TickStamp& before, const TickStamp& after);
// The wall clock was stepped if it advanced by this much more or less than the boot clock. Slewing changes it by less.
inline constexpr std::int64_t kClockStepMs = 1000;

// Returns whether the wall clock was set between two ticks.
bool is_clock_step(const TickStamp& before, const TickStamp& after);

// Returns the time, on the wall clock of `before`, up to which its values are valid. That is the time of `after`, or,
// before a gap, the time of `before`. If the clock was set between the ticks, the boot clock gives the duration.
std::int64_t valid_until_ms(const TickStamp& before, const TickStamp& after);

std::string gap_reason(const TickStamp& before, const TickStamp& after);

// Returns whether the last tick is still valid at `at_ms`.
bool reaches(const TickStamp& last, std::int64_t at_ms);

// Ticks without a gap or a step of the wall clock between them: a row of `stretch`.
struct StretchInfo {
  TickStamp first;
  TickStamp last;
  std::int64_t ticks = 0;
  std::string gap;       // reason of the gap before it; empty if there is none
  bool counted = false;  // whether `ticks` counts only ticks in the range; if false, the share in it is estimated
};

// Takes stretches and then single ticks, in order: those in the range, with one before and one after if they exist.
class CoverageBuilder {
 public:
  explicit CoverageBuilder(Range range) : range_(range) {}

  void add(const TickStamp& tick);
  void add(const StretchInfo& stretch);
  Coverage finish();

 private:
  struct Span {
    std::int64_t from_ms = 0;
    std::int64_t to_ms = 0;
    std::string reason;  // empty: recorded
  };

  void connect(const TickStamp& next, const std::string& gap);
  void count(const TickStamp& tick, std::int64_t ticks);
  void add_span(std::int64_t from_ms, std::int64_t to_ms, const std::string& reason);
  const Span* span_of(std::int64_t from_ms, std::int64_t to_ms) const;

  Range range_;
  std::vector<Span> spans_;
  std::vector<TickStamp> last_;  // the last tick, if there is one
  std::int64_t first_ms_ = 0;
  std::int64_t latest_ms_ = 0;
  std::int64_t last_run_ = 0;
  Coverage coverage_;
};

}  // namespace memoir
