#pragma once

// Computes the time for which each sample of a subject is valid, from the ticks and their rows in recording order.
// Pure. An interval starts at a row of its subject (at a keyframe even without a change) and after a gap; it ends at
// the next row, at the subject's end, and before a gap.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/replay/coverage.h"

namespace memoir {

struct PlannedInterval {
  std::size_t number = 0;    // position in the order of opening
  std::int64_t tick_id = 0;  // tick in which it starts; 0: no interval is open
  std::int64_t subject_id = 0;
  std::int64_t at_ms = 0;
  std::int64_t until_ms = 0;
};

// `Values` is the caller's data of a subject, kept until remove().
template <typename Values>
class IntervalPlan {
 public:
  using Visit = std::function<void(const PlannedInterval&, const Values&)>;

  // When an interval that touches the range ends, `visit` is called with the interval, clipped to the range. The
  // intervals of one subject come in time order.
  IntervalPlan(Range range, Visit visit) : range_(range), visit_(std::move(visit)) {}

  void begin_tick(std::int64_t tick_id, bool keyframe, const TickStamp& mark) {
    const bool broken = mark_ && (is_gap(*mark_, mark) || is_clock_step(*mark_, mark));
    const std::int64_t held_ms = mark_ ? valid_until_ms(*mark_, mark) : mark.wall_ms;
    tick_id_ = tick_id;
    mark_ = mark;
    if (!keyframe && !broken) return;
    std::vector<std::int64_t> were_open = close_all(held_ms);
    if (keyframe) return;
    std::ranges::sort(were_open);
    for (const std::int64_t subject : were_open) open(subject);
  }

  // Opens an interval of the subject at the current tick. The values of its previous interval have been visited when
  // this returns, so the caller may change them.
  Values& open(std::int64_t subject_id) {
    Subject& subject = subjects_[subject_id];
    if (subject.interval.tick_id == tick_id_) return subject.values;
    end(subject, mark_->wall_ms);
    subject.interval = {opened_++, tick_id_, subject_id, mark_->wall_ms, mark_->wall_ms};
    return subject.values;
  }

  void close(std::int64_t subject_id) {
    if (const auto found = subjects_.find(subject_id); found != subjects_.end()) close(found->second);
  }

  void remove(std::int64_t subject_id) {
    close(subject_id);
    subjects_.erase(subject_id);
  }

  // Ends open intervals. `next` is the tick after the last, if there is one.
  void finish(const std::optional<TickStamp>& next) {
    if (!mark_) return;
    const bool to_the_end = !next && reaches(*mark_, range_.to_ms);
    close_all(next ? valid_until_ms(*mark_, *next) : to_the_end ? range_.to_ms : mark_->wall_ms);
  }

 private:
  static constexpr std::int64_t kClosed = 0;

  struct Subject {
    PlannedInterval interval;
    Values values;
  };

  void close(Subject& subject) {
    // If the interval starts in this tick, it was reopened after a gap, within which the subject ended.
    if (subject.interval.tick_id != tick_id_) end(subject, mark_->wall_ms);
    subject.interval.tick_id = kClosed;
  }

  // Returns the subjects that had an open interval.
  std::vector<std::int64_t> close_all(std::int64_t at_ms) {
    std::vector<std::int64_t> were_open;
    for (auto& [id, subject] : subjects_) {
      if (subject.interval.tick_id == kClosed) continue;
      end(subject, at_ms);
      subject.interval.tick_id = kClosed;
      were_open.push_back(id);
    }
    return were_open;
  }

  void end(const Subject& subject, std::int64_t until_ms) const {
    PlannedInterval interval = subject.interval;
    if (interval.tick_id == kClosed) return;
    interval.until_ms = std::max(interval.at_ms, until_ms);
    const bool over = interval.until_ms <= range_.from_ms && interval.at_ms < range_.from_ms;
    if (over || interval.at_ms > range_.to_ms) return;
    interval.at_ms = std::max(interval.at_ms, range_.from_ms);
    interval.until_ms = std::min(interval.until_ms, range_.to_ms);
    visit_(interval, subject.values);
  }

  Range range_;
  Visit visit_;
  std::int64_t tick_id_ = 0;
  std::optional<TickStamp> mark_;
  std::size_t opened_ = 0;
  std::unordered_map<std::int64_t, Subject> subjects_;
};

}  // namespace memoir
