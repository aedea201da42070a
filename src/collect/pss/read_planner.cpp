#include "collect/pss/read_planner.h"

#include <cstdlib>

namespace memoir {
namespace {

Need need_of(ProcessEntry& entry, std::int64_t now_ms) {
  Need need{.unread = !entry.exact || entry.change.suspicious(),
            .rss_kib = entry.sample.memory.or_zero(ProcessField::vm_rss),
            .pss_kib = entry.sample.memory.or_zero(ProcessField::pss),
            .pool = entry.pool};
  if (!need.unread) {
    entry.unread_ms.reset();
  } else if (!entry.unread_ms) {
    entry.unread_ms = now_ms;
  }
  if (!entry.exact) {
    need.age_ms = now_ms - *entry.unread_ms;
    return need;
  }
  need.touched_kib = entry.touched_kib(now_ms);
  need.moved_kib = std::abs(need.rss_kib - entry.exact->memory.or_zero(ProcessField::vm_rss));
  need.wrong_part = entry.exact->wrong_part;
  need.age_ms = now_ms - entry.unread_ms.value_or(entry.exact->at_ms);
  need.cost = entry.exact->cost;
  return need;
}

// What is known of it without a reading in this tick is an estimate.
bool estimable(const ProcessEntry& entry) {
  const Source source = entry.sample.source;
  const bool open = source == Source::estimated || source == Source::approximate;
  return open && !entry.denied && entry.sample.memory.has(ProcessField::vm_rss);
}

const ExactReading* reading_of(const ProcessEntry& entry) {
  return entry.exact && !entry.change.suspicious() && !entry.exec_told ? &*entry.exact : nullptr;
}

}  // namespace

void ReadPlanner::find_pools(const Entries& entries, const Pass& pass) {
  members_.clear();
  for (const auto& entry : entries) {
    members_.push_back({entry->sample.parent_pid, entry->name, &entry->sample.memory, reading_of(*entry)});
    entry->pool = Need::kNoPool;
  }
  pools_ = memoir::find_pools(members_, pass.tick.begin.boot_ms);
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    for (const std::size_t member : pools_[i].members) entries[member]->pool = i;
  }
}

void ReadPlanner::estimate_pools(const Entries& entries, const Pass& pass) {
  if (allowance_.unlimited()) return;
  find_pools(entries, pass);
  for (const Pool& pool : pools_) {
    if (!pool.shares) continue;
    for (const std::size_t member : pool.members) {
      ProcessEntry& entry = *entries[member];
      if (estimable(entry)) estimate_by_siblings(*pool.shares, members_[member].exact, entry.sample);
    }
  }
}

Granted ReadPlanner::plan(const Entries& entries, std::span<const Claim> others, Pass& pass) {
  const std::int64_t now_ms = pass.tick.begin.boot_ms;
  allowance_.begin(now_ms, other_us_);
  for (const auto& entry : entries) {
    if (!entry->exact || now_ms - entry->exact->at_ms < kForgottenMs) continue;
    entry->exact.reset();
    entry->stand_in();
  }
  if (allowance_.unlimited()) {
    Granted all;
    all.set_any();
    return all;
  }
  estimate_pools(entries, pass);
  needs_.clear();
  candidates_.clear();
  for (const auto& entry : entries) {
    // Nothing but trying again shows that it is permitted now.
    if (!entry->rollup_due || entry->denied) continue;
    entry->rollup_due = false;
    candidates_.push_back(entry.get());
    needs_.push_back(need_of(*entry, now_ms));
  }
  Choice choice = choose(needs_, allowance_.left_us(), pools_, others);
  if (closely_) add_foremost(needs_, choice);
  for (const std::size_t i : choice.chosen) candidates_[i]->rollup_due = true;
  pass.tick.reads.put_off = choice.put_off;
  return choice.granted;
}

void ReadPlanner::spend(const Pass& pass) {
  const Tick& tick = pass.tick;
  const std::int64_t planned_us = tick.cost[static_cast<std::size_t>(CostKind::rollup)].cpu_us + pass.in_turn_us;
  allowance_.spend(planned_us);
  other_us_ = tick.total.cpu_us - planned_us + tick.looks.cpu_us;
}

}  // namespace memoir
