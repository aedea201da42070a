#include "collect/pss/read_planner.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace memoir {
namespace {

using F = ProcessField;

SharedHolder holder_of(const ProcessEntry& entry) {
  const ProcessMemory& memory = entry.sample.memory;
  const std::int64_t mapped_kib = memory.or_zero(F::rss_file) + memory.or_zero(F::rss_shmem);
  SharedHolder holder{.pss_kib = memory.or_zero(F::pss_file) + memory.or_zero(F::pss_shmem),
                      .rss_kib = mapped_kib,
                      .is_known = is_known(entry.sample.source) || entry.sample.source == Source::estimated};
  if (const auto& exact = entry.exact) {
    holder.read_ms = exact->at_ms;
    holder.moved_kib = std::abs(mapped_kib - exact->memory.or_zero(F::rss_file) - exact->memory.or_zero(F::rss_shmem));
  }
  return holder;
}

ReadCandidate need_of(ProcessEntry& entry, std::int64_t now_ms) {
  ReadCandidate need{.unread = !entry.exact || entry.change.maybe_execed(),
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
  need.wrong_kib = std::abs(entry.correction_kib);
  // All of its shared memory may be wrong if other processes changed memory that it maps, or if a due read was missing.
  if (entry.unconfirmed) need.wrong_kib = std::max(need.wrong_kib, holder_of(entry).pss_kib);
  need.moved_kib = std::abs(need.rss_kib - entry.exact->memory.or_zero(ProcessField::vm_rss));
  need.wrong_part = entry.exact->wrong_part;
  need.age_ms = now_ms - entry.unread_ms.value_or(entry.exact->at_ms);
  need.cost = entry.exact->cost;
  return need;
}

// Returns whether the process's values are estimates unless it is read in this tick.
bool estimable(const ProcessEntry& entry) {
  const Source source = entry.sample.source;
  const bool open = source == Source::estimated || source == Source::approximate;
  return open && !entry.denied && entry.sample.memory.has(ProcessField::vm_rss);
}

void forget_shared_swap(ProcessMemory& memory) {
  if (memory.has(F::swap)) memory.set(F::swap, memory.or_zero(F::vm_swap));
}

const ExactReading* reading_of(const ProcessEntry& entry) {
  return entry.exact && !entry.change.maybe_execed() && !entry.has_exec_event ? &*entry.exact : nullptr;
}

}  // namespace

void ReadPlanner::find_pools(const Entries& entries, const CollectContext& context) {
  members_.clear();
  for (const auto& entry : entries) {
    members_.push_back({entry->sample.parent_pid, entry->name, &entry->sample.memory, reading_of(*entry)});
    entry->pool = ReadCandidate::kNoPool;
  }
  pools_ = memoir::find_pools(members_, context.tick.begin.boot_ms);
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    for (const std::size_t member : pools_[i].members) entries[member]->pool = i;
  }
}

void ReadPlanner::estimate_shares(const Entries& entries, const CollectContext& context, bool after_reads) {
  if (allowance_.unlimited()) return;
  for (const auto& entry : entries) {
    const bool is_open = !after_reads && entry->correction_kib != 0 && entry->sample.source == Source::estimated;
    if (is_open) correct_shared(entry->correction_kib, entry->sample);
  }
  find_pools(entries, context);
  for (const Pool& pool : pools_) {
    if (!pool.shares) continue;
    for (const std::size_t member : pool.members) {
      ProcessEntry& entry = *entries[member];
      if (!estimable(entry)) continue;
      if (members_[member].exact == nullptr) entry.correction_kib = 0;
      estimate_by_siblings(*pool.shares, members_[member].exact, entry.sample);
    }
  }
  if (swap_used_kib(context.tick.machine.memory) == 0) {
    for (const auto& entry : entries) {
      if (entry->sample.source == Source::estimated) forget_shared_swap(entry->sample.memory);
    }
  }
  correct_shares(entries, context, after_reads);
  if (after_reads) observe_mappers(entries, context);
}

void ReadPlanner::correct_shares(const Entries& entries, const CollectContext& context, bool after_reads) {
  holders_.clear();
  for (const auto& entry : entries) {
    SharedHolder& holder = holders_.emplace_back(holder_of(*entry));
    const bool was_read = after_reads && entry->corrected_kib && entry->correction_kib == 0;
    if (was_read) holder.replaced_kib = holder.pss_kib - *entry->corrected_kib;
  }
  drift_.find_errors(context.tick.machine.memory.get(MachineField::mapped), context.tick.begin.boot_ms, after_reads,
                     holders_);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (holders_[i].error_kib == 0) continue;
    entries[i]->correction_kib += holders_[i].error_kib;
    correct_shared(holders_[i].error_kib, entries[i]->sample);
  }
  if (after_reads) return;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i]->corrected_kib.reset();
    if (entries[i]->correction_kib != 0) entries[i]->corrected_kib = holders_[i].pss_kib + holders_[i].error_kib;
  }
}

void ReadPlanner::observe_mappers(const Entries& entries, const CollectContext& context) {
  const std::int64_t now_ms = context.tick.begin.boot_ms;
  for (const ObservedMapper& mapper : context.exited) changes_.observe_exit(mapper, now_ms);
  for (const auto& entry : entries) {
    changes_.observe(shared_uses(entry->sample.memory), entry->execed, now_ms, entry->mapper);
  }
  if (!changes_.finish(now_ms)) return;
  for (const auto& entry : entries) entry->add_changes_of_others(changes_);
}

Grants ReadPlanner::plan(const Entries& entries, std::span<const ReadRequest> others, CollectContext& context) {
  const std::int64_t now_ms = context.tick.begin.boot_ms;
  allowance_.begin(now_ms, other_us_);
  for (const auto& entry : entries) {
    if (!entry->exact || now_ms - entry->exact->at_ms < kForgottenMs) continue;
    entry->exact.reset();
    entry->stand_in();
  }
  const bool all = std::exchange(all_, false);
  if (all || allowance_.unlimited()) {
    Grants granted;
    granted.set_any();
    return granted;
  }
  estimate_shares(entries, context, false);
  needs_.clear();
  candidates_.clear();
  for (const auto& entry : entries) {
    // A denied rollup stays due, because only another attempt shows whether it is permitted now.
    if (!entry->rollup_due || entry->denied) continue;
    entry->rollup_due = false;
    candidates_.push_back(entry.get());
    needs_.push_back(need_of(*entry, now_ms));
  }
  ReadSelection choice = choose(needs_, allowance_.left_us(), pools_, others);
  if (closely_) add_foremost(needs_, choice);
  for (const std::size_t i : choice.chosen) candidates_[i]->rollup_due = true;
  context.tick.reads.deferred = choice.deferred;
  return choice.granted;
}

void ReadPlanner::spend(const CollectContext& context) {
  const Tick& tick = context.tick;
  const std::int64_t planned_us = tick.cost[static_cast<std::size_t>(CostKind::rollup)].cpu_us + context.in_turn_us;
  allowance_.spend(planned_us);
  other_us_ = tick.total.cpu_us - planned_us + tick.scans.cpu_us;
}

}  // namespace memoir
