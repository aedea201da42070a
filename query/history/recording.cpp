#include "query/history/recording.h"

#include <algorithm>
#include <array>
#include <vector>

namespace memoir::query {

std::string_view to_string(Recording recording) {
  constexpr std::array<std::string_view, 5> words{"recording", "late", "stopped", "died", "never"};
  return words.at(static_cast<std::size_t>(recording));
}

Recording judge_recording(const FileInfo& file, std::span<const StoredRun> runs, std::int64_t now_ms) {
  if (runs.empty()) return file.recorder_pid ? Recording::active : Recording::never;
  const StoredRun& run = runs.back();
  const std::int64_t heard_ms = std::max(run.started_ms, run.last_tick_ms.value_or(run.started_ms));
  // An overrun skips ticks: the last tick may be a few intervals old before the recorder counts as late.
  const bool fresh = now_ms - heard_ms <= 3 * run.interval_ms + 5000;
  if (file.recorder_pid) return fresh ? Recording::active : Recording::late;
  if (run.stopped_ms) return run.stop_reason == "unclean" ? Recording::died : Recording::stopped;
  return fresh && !file.lock_visible ? Recording::active : Recording::died;
}

bool TickCosts::has_kinds() const {
  return std::ranges::any_of(kinds, [](double us) { return us > 0; });
}

namespace {

void add_kinds(const StoredTick& tick, double ticks, TickCosts& costs) {
  costs.mean_wall_us += static_cast<double>(tick.total.wall_us) / ticks;
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    costs.kinds.at(kind) += static_cast<double>(tick.cost.at(kind).cpu_us) / ticks;
    costs.kinds_wall.at(kind) += static_cast<double>(tick.cost.at(kind).wall_us) / ticks;
  }
}

}  // namespace

TickCosts tick_costs(std::span<const StoredTick> ticks, std::int64_t interval_ms) {
  TickCosts costs;
  if (ticks.empty()) return costs;
  std::vector<std::int64_t> cpu_us;
  cpu_us.reserve(ticks.size());
  std::int64_t sum_us = 0;
  TickScans scans;
  std::int64_t storing_us = 0;
  std::int64_t with_storing = 0;  // ticks with the cost of storing
  for (const StoredTick& tick : ticks) {
    cpu_us.push_back(tick.total.cpu_us);
    sum_us += tick.total.cpu_us;
    add_kinds(tick, static_cast<double>(ticks.size()), costs);
    if (tick.storing) {
      ++with_storing;
      storing_us += tick.storing->cpu_us;
    }
    if (!tick.scans) continue;
    scans.count += tick.scans->count;
    scans.cpu_us += tick.scans->cpu_us;
    scans.longest_us = std::max(scans.longest_us, tick.scans->longest_us);
  }
  // Nearest rank: the smallest value that at least 95% of the ticks do not exceed.
  const auto rank = static_cast<std::ptrdiff_t>((cpu_us.size() * 95 + 99) / 100 - 1);
  std::ranges::nth_element(cpu_us, cpu_us.begin() + rank);
  costs.p95_cpu_us = cpu_us[static_cast<std::size_t>(rank)];
  const auto count = static_cast<double>(ticks.size());
  costs.mean_cpu_us = static_cast<double>(sum_us) / count;
  if (interval_ms > 0)
    costs.core_percent =
        static_cast<double>(sum_us + scans.cpu_us + storing_us) / count / static_cast<double>(interval_ms * 1000) * 100;
  if (with_storing > 0) costs.storing_us = static_cast<double>(storing_us) / static_cast<double>(with_storing);
  if (scans.count == 0) return costs;
  costs.scans = static_cast<double>(scans.count) / count;
  costs.scan_us = static_cast<double>(scans.cpu_us) / static_cast<double>(scans.count);
  costs.longest_scan_us = scans.longest_us;
  return costs;
}

std::optional<ReadSummary> sum_up_reads(std::span<const StoredTick> ticks) {
  ReadSummary sum;
  std::int64_t known = 0;
  std::int64_t checked_kib = 0;
  std::int64_t error_kib = 0;
  for (const StoredTick& tick : ticks) {
    if (!tick.reads) continue;
    ++known;
    sum.exact += static_cast<double>(tick.reads->exact);
    sum.held += static_cast<double>(tick.reads->held);
    sum.estimated += static_cast<double>(tick.reads->estimated);
    sum.deferred += static_cast<double>(tick.reads->deferred);
    sum.longest_us = std::max(sum.longest_us, tick.reads->longest_us);
    checked_kib += tick.reads->checked_kib;
    error_kib += tick.reads->error_kib;
  }
  if (sum.exact + sum.held + sum.estimated == 0) return std::nullopt;
  for (double* const count : {&sum.exact, &sum.held, &sum.estimated, &sum.deferred})
    *count /= static_cast<double>(known);
  if (checked_kib > 0) sum.error_percent = 100 * static_cast<double>(error_kib) / static_cast<double>(checked_kib);
  return sum;
}

std::optional<std::int64_t> bytes_per_day(std::int64_t bytes, std::int64_t recorded_ms) {
  constexpr std::int64_t hour_ms = 3'600'000;
  if (recorded_ms < hour_ms) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<double>(bytes) * 24.0 * static_cast<double>(hour_ms) /
                                   static_cast<double>(recorded_ms));
}

Growth growth_of(const FileInfo& file, std::int64_t recorded_ms) {
  constexpr std::int64_t week = 7;
  Growth growth;
  growth.filling = recorded_ms < file.raw_ms;
  growth.bytes_per_day = bytes_per_day(file.bytes, recorded_ms);
  if (file.sizes.size() > 1) {
    const StoredSize& last = file.sizes.back();
    const auto first =
        std::ranges::find_if(file.sizes, [&](const StoredSize& size) { return size.day + week >= last.day; });
    if (first->day < last.day) {
      growth.measured_days = last.day - first->day;
      growth.bytes_per_day = (last.used_bytes - first->used_bytes) / growth.measured_days;
    }
  }
  if (file.max_bytes > 0 && growth.bytes_per_day && *growth.bytes_per_day > 0)
    growth.days_left = std::max<std::int64_t>(file.max_bytes - file.bytes, 0) / *growth.bytes_per_day;
  return growth;
}

}  // namespace memoir::query
