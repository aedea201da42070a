#include "query/history/tier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "analysis/span_stats.h"
#include "query/args/times.h"
#include "query/history/history.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

// Maximum length of a range in each tier. The aim is an answer within 200 ms from a file of 500 processes that is not
// in the page cache (query_bench).
using Paces = std::array<std::int64_t, kRollupTiers.size() + 1>;

constexpr std::int64_t kAnyLength = std::numeric_limits<std::int64_t>::max();

// Limits in the order of Reads: one, process, all, sums.
constexpr std::array<Paces, 4> kPaces{{{kDayMs, 14 * kDayMs, 400 * kDayMs, kAnyLength},
                                       {12 * kHourMs, 14 * kDayMs, 400 * kDayMs, kAnyLength},
                                       {2 * kHourMs, kDayMs, 14 * kDayMs, kAnyLength},
                                       {kDayMs, 2 * kDayMs, 14 * kDayMs, kAnyLength}}};

bool is_quick(Tier tier, std::int64_t length_ms, Reads reads) {
  return length_ms <= kPaces.at(static_cast<std::size_t>(reads)).at(static_cast<std::size_t>(tier));
}

Error out_of_reach(const Context& context, Tier tier, const TierSpan* span, Range asked) {
  const Zone zone = context.options.zone;
  if (span == nullptr) return malformed(fmt::format("--tier {}: the file has no data of this tier", to_string(tier)));
  return malformed(fmt::format("--tier {} starts at {}, after {}: omit --tier, or choose a coarser one",
                               to_string(tier), format_time(span->from_ms, zone), format_time(asked.from_ms, zone)));
}

}  // namespace

const std::vector<std::string>& tier_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{std::string(to_string(Tier::raw))};
    for (const TierShape& shape : kRollupTiers) all.emplace_back(shape.name);
    return all;
  }();
  return names;
}

Tier choose_tier(std::span<const TierSpan> tiers, Range range, Reads reads, std::int64_t widest_ms) {
  if (tiers.empty()) return Tier::raw;
  const std::int64_t oldest_ms = std::ranges::min_element(tiers, {}, &TierSpan::from_ms)->from_ms;
  const std::int64_t from_ms = std::max(range.from_ms, oldest_ms);
  std::optional<Tier> chosen;
  for (const TierSpan& span : tiers) {
    if (span.from_ms > from_ms) continue;
    if (chosen && bucket_ms(span.tier) > widest_ms) break;
    chosen = span.tier;
    if (is_quick(span.tier, range.to_ms - from_ms, reads)) break;
  }
  return chosen.value_or(tiers.front().tier);
}

Result<Tier> tier_of(const Context& context, Range range, Reads reads, std::int64_t widest_ms) {
  const std::vector<TierSpan> tiers = TRY(context.reader.tiers());
  // Nothing was recorded before the first tick or after the last.
  const Range recorded{std::max(range.from_ms, context.file.first_tick_ms),
                       std::min(range.to_ms, context.file.last_tick_ms)};
  if (!context.options.tier) return choose_tier(tiers, recorded, reads, widest_ms);
  const Tier asked = parse_tier(*context.options.tier).value_or(Tier::raw);
  const auto span = std::ranges::find(tiers, asked, &TierSpan::tier);
  if (span == tiers.end() || span->from_ms > recorded.from_ms)
    return out_of_reach(context, asked, span == tiers.end() ? nullptr : &*span, recorded);
  return asked;
}

Result<Tier> tier_of(const Context& context, const Report& report, Reads reads) {
  return report.nothing_recorded ? Result(Tier::raw) : tier_of(context, *report.range, reads);
}

Result<Tier> finest_rollup(Reader& reader, std::int64_t at_ms) {
  std::vector<TierSpan> tiers = TRY(reader.tiers());
  std::erase_if(tiers, [](const TierSpan& span) { return !holds_groups(span.tier); });
  return choose_tier(tiers, {at_ms, at_ms}, Reads::one);
}

std::string_view tier_width(Tier tier) {
  return tier == Tier::five_minutes ? "5 minutes" : tier == Tier::hour ? "an hour" : "a UTC day";
}

bool holds_groups(Tier tier) {
  return tier != Tier::raw;
}

bool holds_metric(Tier tier, Metric metric) {
  return !holds_groups(tier) || is_rolled_up(metric);
}

Range max_reached(const Summary& summary, Tier tier) {
  if (!holds_groups(tier)) return {summary.max_at_ms, summary.max_until_ms};
  // The first of several consecutive unchanged buckets counts.
  return {summary.max_at_ms, std::min(summary.max_until_ms, bucket_around(tier, summary.max_at_ms).to_ms)};
}

std::optional<std::string> inexact_line(const ExactShare& exact) {
  const auto percent = exact.percent();
  if (!percent || *percent >= 100) return std::nullopt;
  return fmt::format("{} of the PSS is exact: the rest is estimated, or RSS where PSS could not be read",
                     format_exact_percent(*percent));
}

std::string format_reached(const Summary& summary, Tier tier, Zone zone) {
  const Range reached = max_reached(summary, tier);
  if (!holds_groups(tier) || reached.from_ms == reached.to_ms) return "at " + format_time(reached.from_ms, zone);
  return "within " + format_within(reached.from_ms, reached.to_ms, zone);
}

std::string short_lived_note(std::string_view what) {
  return fmt::format("Processes younger than a bucket have rollups only in their groups{}.", what);
}

int tier_notes(Tier tier) {
  return holds_groups(tier) ? 1 : 0;
}

void report_tier(Tier tier, Report& report) {
  report.facts.insert(report.facts.begin(), {"tier", "", Kind::text, std::string(to_string(tier))});
  if (!holds_groups(tier)) return;
  report.notes.push_back(fmt::format("From rollups of {}: min, mean and max of each.", tier_width(tier)));
}

std::optional<std::int64_t> mean_over(const Summary& summary, std::int64_t recorded_ms) {
  if (!summary.mean) return std::nullopt;
  if (recorded_ms <= 0) return std::llround(*summary.mean);
  return mean_of_held(*summary.mean * static_cast<double>(summary.covered_ms), summary.covered_ms, recorded_ms);
}

}  // namespace memoir::query
