// Incidents of the machine without a kill, from its rollups.

#include <algorithm>
#include <fmt/format.h>

#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/incidents/makers.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

constexpr double kLongPressurePercent = 10;  // share of the time of a bucket of five minutes or more
constexpr double kSwapFullPercent = 95;
constexpr std::int64_t kGrowthShare = 4;  // growth by 1/4 of all memory within two buckets

constexpr Metric kSomePressure = metric_of(MachineField::psi_some_total);
constexpr Metric kMemTotal = metric_of(MachineField::mem_total);
constexpr Metric kSwapTotal = metric_of(MachineField::swap_total);

// Returns the incident that a bucket continues, or a new one.
IncidentEntry& continued(std::vector<IncidentEntry>& incidents, IncidentKind kind, std::int64_t from_ms,
                         std::int64_t until_ms) {
  const bool same = !incidents.empty() && from_ms - incidents.back().to_ms <= kSameIncidentMs;
  IncidentEntry& entry = same ? incidents.back() : incidents.emplace_back();
  if (!same) {
    entry.kind = kind;
    entry.at_ms = from_ms;
    entry.from_ms = from_ms;
    entry.place = "the machine";
  }
  entry.to_ms = until_ms;
  return entry;
}

std::string lasting(const IncidentEntry& entry) {
  return format_span(std::max<std::int64_t>(entry.to_ms - entry.from_ms, 1));
}

std::vector<IncidentEntry> find_pressure(const std::vector<Interval>& series, Tier tier) {
  std::vector<IncidentEntry> found;
  double worst = 0;
  for (const Increase& bucket : increases_of(series)) {
    if (2 * bucket.covered_ms < bucket_ms(tier)) continue;
    const double percent =
        std::min(100.0, static_cast<double>(bucket.by) / 10 / static_cast<double>(bucket.covered_ms));
    if (percent < kLongPressurePercent) continue;
    const std::size_t before = found.size();
    IncidentEntry& entry = continued(found, IncidentKind::pressure, bucket.from_ms, bucket.until_ms);
    if (found.size() > before) worst = 0;
    if (percent > worst) {
      worst = percent;
      entry.at_ms = bucket.until_ms - 1;
    }
    entry.text =
        fmt::format("Tasks waited for memory for {}, up to {} of the time", lasting(entry), format_percent(worst));
  }
  return found;
}

std::optional<std::int64_t> value_at(const std::vector<Interval>& series, std::int64_t from_ms) {
  const auto after = std::ranges::upper_bound(series, from_ms, {}, &Interval::from_ms);
  return after == series.begin() ? std::nullopt : std::prev(after)->last;
}

std::vector<IncidentEntry> find_full_swap(const std::vector<Interval>& used, const std::vector<Interval>& total,
                                          Units units) {
  std::vector<IncidentEntry> found;
  for (const Interval& bucket : used) {
    const std::int64_t all = value_at(total, bucket.from_ms).value_or(0);
    if (all <= 0 || !bucket.max || share_percent(*bucket.max, all).value_or(0) < kSwapFullPercent) continue;
    IncidentEntry& entry = continued(found, IncidentKind::swap, bucket.from_ms, bucket.until_ms);
    if (*bucket.max > entry.usage_kib.value_or(-1)) {
      entry.usage_kib = bucket.max;
      entry.limit_kib = all;
      entry.at_ms = bucket.until_ms - 1;
    }
    entry.text = fmt::format("Swap was exhausted for {}, with up to {} of {} in use", lasting(entry),
                             format_size(*entry.usage_kib, units), format_size(*entry.limit_kib, units));
  }
  return found;
}

// Omits growth that ended in one of `kills`, because it is part of that incident.
std::vector<IncidentEntry> find_growth(const std::vector<Interval>& used, const std::vector<Interval>& total,
                                       const std::vector<IncidentEntry>& kills, Units units) {
  std::vector<IncidentEntry> found;
  const Interval* before = nullptr;
  std::int64_t lowest = 0;
  for (const Interval& bucket : used) {
    const Interval* const previous = std::exchange(before, &bucket);
    const std::int64_t all = value_at(total, bucket.from_ms).value_or(0);
    if (all <= 0 || !bucket.max || !bucket.min || !bucket.last) continue;
    const bool adjoins = previous != nullptr && previous->until_ms == bucket.from_ms && previous->min;
    const std::int64_t from_kib = adjoins && *previous->min < *bucket.min ? *previous->min : *bucket.min;
    const std::int64_t to_kib = from_kib < *bucket.min ? *bucket.max : *bucket.last;
    if ((to_kib - from_kib) * kGrowthShare < all) continue;
    const std::int64_t from_ms = from_kib < *bucket.min ? previous->from_ms : bucket.from_ms;
    const bool killed = std::ranges::any_of(kills, [&](const IncidentEntry& kill) {
      return kill.is_kill() && kill.from_ms >= from_ms && kill.from_ms - bucket.until_ms <= kSameIncidentMs;
    });
    if (killed) continue;
    const std::size_t known = found.size();
    IncidentEntry& entry = continued(found, IncidentKind::growth, from_ms, bucket.until_ms);
    if (found.size() > known) lowest = from_kib;
    if (to_kib > entry.usage_kib.value_or(-1)) {
      entry.usage_kib = to_kib;
      entry.at_ms = bucket.until_ms - 1;
    }
    entry.limit_kib = all;
    entry.text =
        fmt::format("Memory in use grew by {} to {} of {} within {}", format_size(*entry.usage_kib - lowest, units),
                    format_size(*entry.usage_kib, units), format_size(all, units), lasting(entry));
  }
  return found;
}

}  // namespace

Status add_machine_incidents(const Context& context, Range range, std::vector<IncidentEntry>& incidents) {
  const Tier tier = TRY(finest_rollup(context.reader, range.from_ms));
  SeriesByMetric series =
      TRY(load_series(context.reader, {tier,
                                       SubjectKind::machine,
                                       {},
                                       range,
                                       {kSomePressure, Metric::used, Metric::swap_used, kMemTotal, kSwapTotal},
                                       true}));
  const Units units = context.options.units;
  const auto growth = find_growth(series[Metric::used], series[kMemTotal], incidents, units);
  const auto swap = find_full_swap(series[Metric::swap_used], series[kSwapTotal], units);
  const auto pressure = find_pressure(series[kSomePressure], tier);
  for (const auto* const found : {&growth, &swap, &pressure})
    incidents.insert(incidents.end(), found->begin(), found->end());
  // A bucket may reach beyond the recording.
  for (IncidentEntry& entry : incidents) {
    entry.at_ms = std::min(entry.at_ms, context.file.last_tick_ms);
    entry.to_ms = std::min(entry.to_ms, std::max(context.file.last_tick_ms, entry.at_ms));
  }
  return Done{};
}

}  // namespace memoir::query
