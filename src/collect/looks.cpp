#include "collect/looks.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::int64_t kFastKib = 64 * 1024;
constexpr std::int64_t kMarkMs = 1'000;

std::optional<std::int64_t> used_kib(const MachineMemory& machine, std::optional<std::int64_t> available_kib) {
  const auto total = machine.get(MachineField::mem_total);
  return total && available_kib ? std::optional(*total - *available_kib) : std::nullopt;
}

void see(ProcessEntry& entry, const ProcessMemory& now, std::int64_t at_ms) {
  ProcessBetween& between = entry.between;
  const ProcessMemory& before = entry.sample.memory;
  if (!std::exchange(between.begun, true)) {
    between.rss.begin(before.get(F::vm_rss));
    between.anon.begin(before.get(F::rss_anon));
    between.hwm.begin(before.get(F::vm_hwm));
    between.marked_rss_kib = between.tick_rss_kib = before.or_zero(F::vm_rss);
  }
  between.rss.see(now.get(F::vm_rss), at_ms, between.looked_ms);
  between.anon.see(now.get(F::rss_anon), at_ms, between.looked_ms);
  between.hwm.see(now.get(F::vm_hwm), at_ms, between.looked_ms);
  between.looked_ms = at_ms;
}

// How much it grew, if that is fast; its mark moves on.
std::optional<std::int64_t> fast_growth(ProcessBetween& between, std::int64_t now_kib, std::int64_t available_kib,
                                        std::int64_t at_ms) {
  const bool fast = rises_fast(between.marked_rss_kib, now_kib, available_kib);
  const std::int64_t gain_kib = now_kib - between.marked_rss_kib;
  const std::int64_t age_ms = at_ms - between.marked_ms;
  if (fast || age_ms >= kMarkMs || age_ms < 0) {
    between.marked_rss_kib = now_kib;
    between.marked_ms = at_ms;
  }
  return fast ? std::optional(gain_kib) : std::nullopt;
}

void add(const ProcessExtremes& of, TickExtremes& extremes) {
  if (of.rss.any() || of.anon.any() || of.hwm.any()) extremes.processes.push_back(of);
}

}  // namespace

std::optional<FastGrowth> Looks::see(const Entries& entries, const CategoryTotals& totals, const MachineMemory& machine,
                                     const std::vector<CensusProcess>& seen, std::optional<std::int64_t> available_kib,
                                     std::int64_t at_ms) {
  const auto& by_slot = totals.by_slot();
  if (!std::exchange(begun_, true)) {
    available_.begin(machine.get(MachineField::mem_available));
    used_.begin(used_kib(machine, machine.get(MachineField::mem_available)));
    categories_.assign(by_slot.size(), {});
    for (std::size_t i = 0; i < by_slot.size(); ++i) categories_[i].begin(by_slot[i].rss_kib);
  }
  const auto after_ms = std::exchange(looked_ms_, at_ms);
  available_.see(available_kib, at_ms, after_ms);
  used_.see(used_kib(machine, available_kib), at_ms, after_ms);
  gained_kib_.assign(by_slot.size(), 0);
  std::optional<FastGrowth> fast = see_processes(entries, seen, available_kib.value_or(0), at_ms);
  for (std::size_t i = 0; i < by_slot.size(); ++i) {
    if (by_slot[i].processes > 0) categories_[i].see(by_slot[i].rss_kib + gained_kib_[i], at_ms, after_ms);
  }
  return fast;
}

std::optional<FastGrowth> Looks::see_processes(const Entries& entries, const std::vector<CensusProcess>& seen,
                                               std::int64_t available_kib, std::int64_t at_ms) {
  const ProcessEntry* fastest = nullptr;
  std::int64_t most_kib = 0;
  std::int64_t fastest_kib = 0;
  auto process = seen.begin();
  for (const auto& entry : entries) {
    while (process != seen.end() && process->pid < entry->pid) ++process;
    const bool here = process != seen.end() && process->pid == entry->pid && process->start_ticks == entry->start_ticks;
    const std::int64_t now_kib = here ? process->memory.or_zero(F::vm_rss) : 0;
    gained_kib_[entry->category] += now_kib - entry->sample.memory.or_zero(F::vm_rss);
    if (!here) continue;
    memoir::see(*entry, process->memory, at_ms);
    const auto gain_kib = fast_growth(entry->between, now_kib, available_kib, at_ms);
    if (!gain_kib || *gain_kib < most_kib) continue;
    fastest = entry.get();
    most_kib = *gain_kib;
    fastest_kib = now_kib;
  }
  if (fastest == nullptr) return std::nullopt;
  return FastGrowth{fastest->name, fastest->pid, fastest_kib - most_kib, fastest_kib};
}

void Looks::end(const ProcessEntry& entry, TickExtremes& extremes) {
  const ProcessBetween& between = entry.between;
  Extremes hwm = between.hwm.beyond({});
  hwm.lowest.reset();  // it ran another image
  add({entry.info.key, between.rss.beyond({}), between.anon.beyond({}), hwm}, extremes);
}

void Looks::take(const Entries& entries, const CategoryTotals& totals, Tick& tick) {
  TickExtremes& extremes = tick.extremes;
  for (const auto& entry : entries) {
    if (!entry->between.begun) continue;
    const ProcessBetween between = std::exchange(entry->between, {});
    // What they saw may be of the image before.
    if (entry->execed) continue;
    const ProcessMemory& now = entry->sample.memory;
    const std::int64_t resident_kib = std::max(between.tick_rss_kib, now.or_zero(F::vm_rss));
    add({entry->info.key, between.rss.beyond(now.get(F::vm_rss)), between.anon.beyond(now.get(F::rss_anon)),
         between.hwm.spike(now.get(F::vm_hwm), resident_kib)},
        extremes);
  }
  std::ranges::sort(extremes.processes, {}, &ProcessExtremes::process);
  looked_ms_.reset();
  if (!std::exchange(begun_, false)) return;
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
