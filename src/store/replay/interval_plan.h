#pragma once

// From when until when each sample of a subject holds: pure, over the ticks and the rows in them, in the order of
// recording. An interval begins where its subject has a row (at a keyframe even if nothing changed) and after a gap; it
// ends at the next one, at the subject's end, and before a gap.

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "store/replay/coverage.h"

namespace memoir {

struct PlannedInterval {
  std::size_t number = 0;    // in the order of opening
  std::int64_t tick_id = 0;  // in which it begins
  std::int64_t subject_id = 0;
  std::int64_t at_ms = 0;
  std::int64_t until_ms = 0;
};

class IntervalPlan {
 public:
  using Visit = std::function<void(const PlannedInterval&)>;

  // `visit` gets each interval that touches the range, clipped to it, when it ends: those of one subject in their
  // order.
  IntervalPlan(Range range, Visit visit) : range_(range), visit_(std::move(visit)) {}

  void begin_tick(std::int64_t tick_id, bool keyframe, const TickMark& mark);
  void open(std::int64_t subject_id);
  void close(std::int64_t subject_id);

  // Ends what is open. `next` is the tick after the last, if there is one.
  void finish(const std::optional<TickMark>& next);

 private:
  void close_all(std::int64_t at_ms);
  void end(PlannedInterval interval, std::int64_t until_ms) const;

  Range range_;
  Visit visit_;
  std::int64_t tick_id_ = 0;
  std::optional<TickMark> mark_;
  std::size_t opened_ = 0;
  std::unordered_map<std::int64_t, PlannedInterval> open_;  // by subject
};

}  // namespace memoir
