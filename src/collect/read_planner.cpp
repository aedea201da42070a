#include "collect/read_planner.h"

#include <cstdlib>

namespace memoir {
namespace {

Need need_of(const ProcessEntry& entry, std::int64_t now_ms) {
  Need need{.unread = !entry.exact || entry.change.suspicious(),
            .rss_kib = entry.sample.memory.or_zero(ProcessField::vm_rss),
            .pss_kib = entry.sample.memory.or_zero(ProcessField::pss)};
  if (!entry.exact) return need;
  need.touched_kib = touched_kib(*entry.exact, entry.sample.memory, entry.related, now_ms);
  need.moved_kib = std::abs(need.rss_kib - entry.exact->memory.or_zero(ProcessField::vm_rss));
  need.wrong_part = entry.exact->wrong_part;
  need.age_ms = now_ms - entry.exact->at_ms;
  need.cost = entry.exact->cost;
  return need;
}

}  // namespace

void ReadPlanner::plan(const std::vector<std::unique_ptr<ProcessEntry>>& entries, Pass& pass) {
  const std::int64_t now_ms = pass.tick.begin.boot_ms;
  allowance_.begin(now_ms, other_us_);
  for (const auto& entry : entries) {
    if (!entry->exact || now_ms - entry->exact->at_ms < kForgottenMs) continue;
    entry->exact.reset();
    entry->stand_in();
  }
  if (allowance_.unlimited()) return;
  needs_.clear();
  candidates_.clear();
  for (const auto& entry : entries) {
    // Nothing but trying again shows that it is permitted now.
    if (!entry->plan.rollup || entry->denied) continue;
    entry->plan.rollup = false;
    candidates_.push_back(entry.get());
    needs_.push_back(need_of(*entry, now_ms));
  }
  Choice choice = choose(needs_, allowance_.left_us());
  if (closely_) add_foremost(needs_, choice);
  for (const std::size_t i : choice.chosen) candidates_[i]->plan.rollup = true;
  pass.tick.reads.put_off = choice.put_off;
}

void ReadPlanner::spend(const Tick& tick) {
  const std::int64_t reading_us = tick.cost[static_cast<std::size_t>(CostKind::rollup)].cpu_us;
  allowance_.spend(reading_us);
  other_us_ = tick.total.cpu_us - reading_us + tick.looks.cpu_us;
}

}  // namespace memoir
