#pragma once

// From when until when each sample of a subject holds: pure, over the ticks and the rows in them, in the order of
// recording. A step begins where its subject has a row (at a keyframe even if nothing changed) and after a gap; it ends
// at the next one, at the subject's end, and before a gap.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "store/replay/coverage.h"

namespace memoir {

struct PlannedStep {
  std::size_t number = 0;    // in the order of opening
  std::int64_t tick_id = 0;  // in which it begins
  std::int64_t subject_id = 0;
  std::int64_t at_ms = 0;
  std::int64_t until_ms = 0;
};

class StepPlan {
 public:
  explicit StepPlan(Range range) : range_(range) {}

  void begin_tick(std::int64_t tick_id, bool keyframe, const TickMark& mark);
  void open(std::int64_t subject_id);
  void close(std::int64_t subject_id);

  // How many were opened so far, and whose each is.
  std::size_t opened() const { return steps_.size(); }
  std::int64_t subject(std::size_t number) const { return steps_[number].subject_id; }

  // Ends the plan: all steps that touch the range, clipped to it, in the order of ticks. `next` is the tick after the
  // last, if there is one.
  std::vector<PlannedStep> finish(const std::optional<TickMark>& next);

 private:
  void close_all(std::int64_t at_ms);

  Range range_;
  std::int64_t tick_id_ = 0;
  std::optional<TickMark> mark_;
  std::unordered_map<std::int64_t, std::size_t> open_;  // subject to its step
  std::vector<PlannedStep> steps_;
};

}  // namespace memoir
