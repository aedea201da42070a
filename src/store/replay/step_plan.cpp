#include "store/replay/step_plan.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::int64_t kNoTick = 0;

}  // namespace

void StepPlan::begin_tick(std::int64_t tick_id, bool keyframe, const TickMark& mark) {
  const bool broken = mark_ && (is_gap(*mark_, mark) || is_clock_step(*mark_, mark));
  const std::int64_t held_ms = mark_ ? held_until_ms(*mark_, mark) : mark.wall_ms;
  tick_id_ = tick_id;
  mark_ = mark;
  if (keyframe) {
    close_all(held_ms);
  } else if (broken) {
    std::vector<std::int64_t> subjects;
    for (const auto& [subject, step] : open_) subjects.push_back(subject);
    std::sort(subjects.begin(), subjects.end());
    close_all(held_ms);
    for (const std::int64_t subject : subjects) open(subject);
  }
}

void StepPlan::open(std::int64_t subject_id) {
  const auto [found, fresh] = open_.try_emplace(subject_id, steps_.size());
  if (!fresh) {
    PlannedStep& step = steps_[found->second];
    if (step.tick_id == tick_id_) return;
    step.until_ms = mark_->wall_ms;
    found->second = steps_.size();
  }
  steps_.push_back({steps_.size(), tick_id_, subject_id, mark_->wall_ms, mark_->wall_ms});
}

void StepPlan::close(std::int64_t subject_id) {
  const auto found = open_.find(subject_id);
  if (found == open_.end()) return;
  PlannedStep& step = steps_[found->second];
  step.until_ms = mark_->wall_ms;
  // Reopened after a gap that it did not outlive.
  if (step.tick_id == tick_id_) step.tick_id = kNoTick;
  open_.erase(found);
}

void StepPlan::close_all(std::int64_t at_ms) {
  for (const auto& [subject, step] : open_) steps_[step].until_ms = at_ms;
  open_.clear();
}

std::vector<PlannedStep> StepPlan::finish(const std::optional<TickMark>& next) {
  if (mark_) {
    const bool to_the_end = !next && reaches(*mark_, range_.to_ms);
    close_all(next ? held_until_ms(*mark_, *next) : to_the_end ? range_.to_ms : mark_->wall_ms);
  }
  std::erase_if(steps_, [this](PlannedStep& step) {
    step.until_ms = std::max(step.at_ms, step.until_ms);
    const bool over = step.until_ms <= range_.from_ms && step.at_ms < range_.from_ms;
    if (step.tick_id == kNoTick || over || step.at_ms > range_.to_ms) return true;
    step.at_ms = std::max(step.at_ms, range_.from_ms);
    step.until_ms = std::min(step.until_ms, range_.to_ms);
    return false;
  });
  return std::move(steps_);
}

}  // namespace memoir
