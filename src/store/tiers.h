#pragma once

// The tiers of the history: ticks, and rollups of three widths. What they are called, how each cuts time, and for how
// long it is kept.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

// How fine a history is kept: every tick for days, buckets of 5 minutes for weeks, of an hour for a year, of a UTC day
// for good (config [store]).
enum class Tier : std::uint8_t { raw, five_minutes, hour, day };

// "raw", "5min", "hour", "day"
std::string_view to_string(Tier tier);
std::optional<Tier> parse_tier(std::string_view name);
std::int64_t bucket_ms(Tier tier);  // 0 for raw

inline constexpr std::int64_t kDayLengthMs = 86'400'000;

// What is kept for how long, 0: forever. Ages count by the recorder's own clock (stretch.recorded_ms), which nobody
// can set.
struct Retention {
  std::int64_t raw_ms = 7 * kDayLengthMs;
  std::int64_t five_minutes_ms = 60 * kDayLengthMs;
  std::int64_t hour_ms = 400 * kDayLengthMs;
  std::int64_t day_ms = 0;
  std::int64_t max_bytes = 2LL * 1024 * 1024 * 1024;  // of the file with its -wal; 0: without a limit

  bool operator==(const Retention&) const = default;
};

// How a tier of rollups cuts time, into blocks of `slots` buckets, and what has rows in it for how long.
struct TierShape {
  Tier tier = Tier::raw;
  const char* name = "";      // of its tables: rollup_NAME, machine_NAME
  const char* block = "";     // their column
  const char* retained = "";  // its columns of `retention`: RETAINED_ms, RETAINED_cut, RETAINED_from_ms
  std::int64_t Retention::*kept_ms = nullptr;
  std::int64_t width_ms = 0;
  std::int64_t slots = 1;
  // From what age a process, and a group of them, has rows in it. Jobs of some minutes are many: what they leave for as
  // long as there are buckets of 5 minutes would be a tenth of the file. Groups are few, and the only trace of
  // processes that were too short.
  std::int64_t process_age_ms = 0;
  std::int64_t group_age_ms = 0;
  bool keeps_peak_times = false;  // of PSS: a bucket of the others is narrow enough

  constexpr std::int64_t block_ms() const { return width_ms * slots; }
};

// The tiers of the rollups, the finest first.
inline constexpr std::array kRollupTiers{
    TierShape{.tier = Tier::five_minutes,
              .name = "5min",
              .block = "hour",
              .retained = "five_minutes",
              .kept_ms = &Retention::five_minutes_ms,
              .width_ms = 300'000,
              .slots = 12,
              .process_age_ms = 900'000,
              .group_age_ms = 0,
              .keeps_peak_times = false},
    TierShape{.tier = Tier::hour,
              .name = "hour",
              .block = "day",
              .retained = "hour",
              .kept_ms = &Retention::hour_ms,
              .width_ms = 3'600'000,
              .slots = 24,
              .process_age_ms = 3'600'000,
              .group_age_ms = 300'000,
              .keeps_peak_times = true},
    TierShape{.tier = Tier::day,
              .name = "day",
              .block = "day",
              .retained = "day",
              .kept_ms = &Retention::day_ms,
              .width_ms = 86'400'000,
              .slots = 1,
              .process_age_ms = 86'400'000,
              .group_age_ms = 3'600'000,
              .keeps_peak_times = true},
};

// Of a tier of rollups, its place in kRollupTiers.
constexpr std::size_t index_of(Tier tier) {
  return static_cast<std::size_t>(tier) - 1;
}
constexpr const TierShape& shape_of(Tier tier) {
  return kRollupTiers.at(index_of(tier));
}

}  // namespace memoir
