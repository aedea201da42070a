#include "collect/scan_tracker.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::int64_t kFastKib = 64 * 1024;
constexpr std::int64_t kMarkMs = 1'000;

// Returns the memory in use, from the memory available at a scan and the other values of the last tick.
std::optional<std::int64_t> used_kib(MachineMemory machine, std::optional<std::int64_t> available_kib) {
  machine.set(MachineField::mem_available, available_kib);
  return memoir::used_kib(machine);
}

void add(const ProcessExtremes& of, TickExtremes& extremes) {
  if (of.rss.any() || of.anon.any() || of.hwm.any()) extremes.processes.push_back(of);
}

}  // namespace

std::optional<FastGrowth> ScanTracker::see(const Entries& entries, const CategoryTotals& totals,
                                           const MachineMemory& machine, const std::vector<BriefSample>& seen,
                                           std::optional<std::int64_t> available_kib, std::int64_t at_ms) {
  const auto& by_slot = totals.by_slot();
  if (!scanned_ms_) {
    available_.begin(machine.get(MachineField::mem_available));
    used_.begin(used_kib(machine, machine.get(MachineField::mem_available)));
    categories_.assign(by_slot.size(), {});
    for (std::size_t i = 0; i < by_slot.size(); ++i) categories_[i].begin(by_slot[i].rss_kib);
  }
  if (watched_.empty()) watch(entries);
  const auto after_ms = std::exchange(scanned_ms_, at_ms);
  available_.see(available_kib, at_ms, after_ms);
  used_.see(used_kib(machine, available_kib), at_ms, after_ms);
  gained_kib_.assign(by_slot.size(), 0);
  std::optional<FastGrowth> fast = observe_processes(seen, available_kib.value_or(0), at_ms);
  for (std::size_t i = 0; i < by_slot.size(); ++i) {
    if (by_slot[i].processes > 0) categories_[i].see(by_slot[i].rss_kib + gained_kib_[i], at_ms, after_ms);
  }
  return fast;
}

void ScanTracker::watch(const Entries& entries) {
  watched_.clear();
  watched_.reserve(entries.size());
  for (const auto& entry : entries) {
    const BriefSample last = brief_sample_of(entry->pid, entry->start_ticks, entry->sample.memory);
    watched_.push_back({entry.get(), entry->category, last.rss_kib, last, {}, last.rss_kib});
  }
}

std::optional<FastGrowth> ScanTracker::observe_processes(const std::vector<BriefSample>& seen,
                                                         std::int64_t available_kib, std::int64_t at_ms) {
  const Watched* fastest = nullptr;
  std::int64_t max_kib = 0;
  auto now = seen.begin();
  for (Watched& watched : watched_) {
    while (now != seen.end() && now->pid < watched.last.pid) ++now;
    const bool here = now != seen.end() && now->pid == watched.last.pid && now->start_ticks == watched.last.start_ticks;
    gained_kib_[watched.category] += (here ? now->rss_kib : 0) - watched.tick_rss_kib;
    if (!here) continue;
    if (!now->hwm_kib) watched.last.hwm_kib.reset();
    if (*now != watched.last) {
      watched.see(*now, at_ms);
      const auto gain_kib = watched.fast_growth(*now, available_kib, at_ms);
      watched.last = *now;
      if (gain_kib && *gain_kib >= max_kib) {
        fastest = &watched;
        max_kib = *gain_kib;
      }
    }
    watched.seen_ms = at_ms;
  }
  if (fastest == nullptr) return std::nullopt;
  const std::int64_t rss_kib = fastest->last.rss_kib;
  return FastGrowth{fastest->entry->name, fastest->entry->pid, rss_kib - max_kib, rss_kib};
}

void ScanTracker::Watched::see(const BriefSample& now, std::int64_t at_ms) {
  std::unique_ptr<ProcessBetween>& between = entry->between;
  if (between == nullptr) {
    between = std::make_unique<ProcessBetween>();
    const ProcessMemory& before = entry->sample.memory;
    between->rss.begin(before.get(F::vm_rss));
    between->anon.begin(before.get(F::rss_anon));
    between->hwm.begin(before.get(F::vm_hwm));
  }
  between->rss.see(now.rss_kib, at_ms, seen_ms);
  between->anon.see(now.anon_kib, at_ms, seen_ms);
  between->hwm.see(now.hwm_kib, at_ms, seen_ms);
}

std::optional<std::int64_t> ScanTracker::Watched::fast_growth(const BriefSample& now, std::int64_t available_kib,
                                                              std::int64_t at_ms) {
  // The reference of an unchanged process stays. A time before the reference means that the clock was set back.
  if (seen_ms && (*seen_ms - marked_ms >= kMarkMs || *seen_ms < marked_ms)) {
    marked_rss_kib = last.rss_kib;
    marked_ms = *seen_ms;
  }
  const bool fast = rises_fast(marked_rss_kib, now.rss_kib, available_kib);
  const std::int64_t gain_kib = now.rss_kib - marked_rss_kib;
  const std::int64_t age_ms = at_ms - marked_ms;
  if (fast || age_ms >= kMarkMs || age_ms < 0) {
    marked_rss_kib = now.rss_kib;
    marked_ms = at_ms;
  }
  return fast ? std::optional(gain_kib) : std::nullopt;
}

void ScanTracker::end(const ProcessEntry& entry, TickExtremes& extremes) {
  if (entry.between == nullptr) return;
  const ProcessBetween& between = *entry.between;
  Extremes hwm = between.hwm.beyond({});
  hwm.lowest.reset();  // it belongs to another image
  add({entry.info.key, between.rss.beyond({}), between.anon.beyond({}), hwm}, extremes);
}

void ScanTracker::take(const Entries& entries, const CategoryTotals& totals, Tick& tick) {
  TickExtremes& extremes = tick.extremes;
  for (const auto& entry : entries) {
    const std::unique_ptr<ProcessBetween> between = std::move(entry->between);
    // Values of scans may belong to the previous image.
    if (between == nullptr || entry->execed) continue;
    const ProcessMemory& now = entry->sample.memory;
    const std::int64_t resident_kib = std::max(between->rss.before().value_or(0), now.or_zero(F::vm_rss));
    add({entry->info.key, between->rss.beyond(now.get(F::vm_rss)), between->anon.beyond(now.get(F::rss_anon)),
         between->hwm.spike(now.get(F::vm_hwm), resident_kib)},
        extremes);
  }
  std::ranges::sort(extremes.processes, {}, &ProcessExtremes::process);
  if (!std::exchange(scanned_ms_, std::nullopt)) return;
  const auto available = tick.machine.memory.get(MachineField::mem_available);
  extremes.available = available_.beyond(available);
  extremes.used = used_.beyond(used_kib(tick.machine.memory, available));
  for (std::size_t i = 0; i < categories_.size(); ++i) {
    const CategorySample& now = totals.by_slot()[i];
    Extremes rss = categories_[i].beyond(now.rss_kib);
    rss.lowest.reset();
    if (rss.any()) extremes.categories.push_back({now.category, rss});
  }
  std::ranges::sort(extremes.categories, {}, &CategoryExtremes::category);
  available_ = {};
  used_ = {};
}

bool rises_fast(std::int64_t before_kib, std::int64_t now_kib, std::int64_t available_kib) {
  const std::int64_t gain_kib = now_kib - before_kib;
  return gain_kib >= kFastKib && (gain_kib >= before_kib || gain_kib >= available_kib / 8);
}

}  // namespace memoir
