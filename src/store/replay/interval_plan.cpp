#include "store/replay/interval_plan.h"

#include <algorithm>
#include <vector>

namespace memoir {
namespace {

constexpr std::int64_t kNoTick = 0;

}  // namespace

void IntervalPlan::begin_tick(std::int64_t tick_id, bool keyframe, const TickMark& mark) {
  const bool broken = mark_ && (is_gap(*mark_, mark) || is_clock_step(*mark_, mark));
  const std::int64_t held_ms = mark_ ? held_until_ms(*mark_, mark) : mark.wall_ms;
  tick_id_ = tick_id;
  mark_ = mark;
  if (keyframe) {
    close_all(held_ms);
  } else if (broken) {
    std::vector<std::int64_t> subjects;
    for (const auto& [subject, interval] : open_) subjects.push_back(subject);
    std::sort(subjects.begin(), subjects.end());
    close_all(held_ms);
    for (const std::int64_t subject : subjects) open(subject);
  }
}

void IntervalPlan::open(std::int64_t subject_id) {
  PlannedInterval& interval = open_[subject_id];
  if (interval.tick_id == tick_id_) return;
  if (interval.tick_id != kNoTick) end(interval, mark_->wall_ms);
  interval = {opened_++, tick_id_, subject_id, mark_->wall_ms, mark_->wall_ms};
}

void IntervalPlan::close(std::int64_t subject_id) {
  const auto found = open_.find(subject_id);
  if (found == open_.end()) return;
  // One of this tick was reopened after a gap that its subject did not outlive.
  if (found->second.tick_id != tick_id_) end(found->second, mark_->wall_ms);
  open_.erase(found);
}

void IntervalPlan::close_all(std::int64_t at_ms) {
  for (const auto& [subject, interval] : open_) end(interval, at_ms);
  open_.clear();
}

void IntervalPlan::end(PlannedInterval interval, std::int64_t until_ms) const {
  interval.until_ms = std::max(interval.at_ms, until_ms);
  const bool over = interval.until_ms <= range_.from_ms && interval.at_ms < range_.from_ms;
  if (over || interval.at_ms > range_.to_ms) return;
  interval.at_ms = std::max(interval.at_ms, range_.from_ms);
  interval.until_ms = std::min(interval.until_ms, range_.to_ms);
  visit_(interval);
}

void IntervalPlan::finish(const std::optional<TickMark>& next) {
  if (!mark_) return;
  const bool to_the_end = !next && reaches(*mark_, range_.to_ms);
  close_all(next ? held_until_ms(*mark_, *next) : to_the_end ? range_.to_ms : mark_->wall_ms);
}

}  // namespace memoir
