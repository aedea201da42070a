#pragma once

// Which part of a range was recorded: pure, over the ticks in the order of recording.

#include <cstdint>
#include <string>
#include <vector>

#include "store/types.h"

namespace memoir {

// What of a tick matters to coverage.
struct TickMark {
  std::int64_t wall_ms = 0;
  std::int64_t boot_ms = 0;
  std::int64_t run_id = 0;
  std::int64_t boot_id = 0;
  std::int64_t interval_ms = 0;
  std::int64_t skipped = 0;
  std::string run_end;  // reason; empty as long as the run is not ended
};

// How far apart two ticks may lie for what is between them to count as recorded: half an interval late, and a second
// (or half an interval, if that is less) for a busy machine.
std::int64_t longest_step_ms(std::int64_t interval_ms);

// Whether consecutive ticks lie too far apart: by the boot clock, or across boots by the wall clock.
bool is_gap(const TickMark& before, const TickMark& after);
// Wall and boot clock move together but for a step of the wall clock; a little slewing is none.
inline constexpr std::int64_t kClockStepMs = 1000;

// Whether the wall clock was set between two ticks: it moved otherwise than the boot clock.
bool is_clock_step(const TickMark& before, const TickMark& after);

// Until when, on the wall clock of `before`, what it saw held: to the next tick; before a gap, no longer than itself;
// where the clock was set in between, for as long as it really took.
std::int64_t held_until_ms(const TickMark& before, const TickMark& after);

std::string gap_reason(const TickMark& before, const TickMark& after);

// Whether the last tick there is still speaks for `at_ms`.
bool reaches(const TickMark& last, std::int64_t at_ms);

// Ticks without a gap and without a step of the wall clock, as a row of `stretch` tells of them.
struct StretchMark {
  TickMark first;
  TickMark last;
  std::int64_t ticks = 0;
  std::string gap;       // before it; empty if there is none
  bool counted = false;  // `ticks` are those in the range; else all, of which a share is estimated
};

// Takes stretches and then single ticks, in their order: what lies in the range, and one before and after if there is.
class CoverageBuilder {
 public:
  explicit CoverageBuilder(Range range) : range_(range) {}

  void add(const TickMark& tick);
  void add(const StretchMark& stretch);
  Coverage finish();

 private:
  struct Span {
    std::int64_t from_ms = 0;
    std::int64_t to_ms = 0;
    std::string reason;  // empty: recorded
  };

  void connect(const TickMark& next, const std::string& gap);
  void count(const TickMark& tick, std::int64_t ticks);
  void add_span(std::int64_t from_ms, std::int64_t to_ms, const std::string& reason);
  const Span* span_of(std::int64_t from_ms, std::int64_t to_ms) const;

  Range range_;
  std::vector<Span> spans_;
  std::vector<TickMark> last_;  // none or one
  std::int64_t first_ms_ = 0;
  std::int64_t latest_ms_ = 0;
  std::int64_t last_run_ = 0;
  Coverage coverage_;
};

}  // namespace memoir
