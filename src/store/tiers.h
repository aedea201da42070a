#pragma once

// The tiers of the history: ticks, and rollups of three widths, with their names, their division of time, and their
// retention.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

// Resolution of the history: every tick for days, buckets of 5 minutes for weeks, of an hour for a year, of a UTC day
// permanently (config [store]).
enum class Tier : std::uint8_t { raw, five_minutes, hour, day };

// "raw", "5min", "hour", "day"
std::string_view to_string(Tier tier);
std::optional<Tier> parse_tier(std::string_view name);
std::int64_t bucket_ms(Tier tier);  // 0 for raw

inline constexpr std::int64_t kDayLengthMs = 86'400'000;

// Retention of each tier, 0: forever. Ages count by the recorder's own clock (stretch.recorded_ms), which users cannot
// set.
struct Retention {
  std::int64_t raw_ms = 7 * kDayLengthMs;
  std::int64_t five_minutes_ms = 60 * kDayLengthMs;
  std::int64_t hour_ms = 400 * kDayLengthMs;
  std::int64_t day_ms = 0;
  std::int64_t max_bytes = 2LL * 1024 * 1024 * 1024;  // maximum size of the file with its -wal; 0: no limit

  bool operator==(const Retention&) const = default;
};

// How a tier of rollups divides time into blocks of `slots` buckets, and which subjects have rows in it.
struct TierShape {
  Tier tier = Tier::raw;
  const char* name = "";      // suffix of its tables: rollup_NAME, machine_NAME
  const char* block = "";     // column with the block in these tables
  const char* retained = "";  // prefix of its columns in `retention`: RETAINED_ms, RETAINED_cut, RETAINED_from_ms
  std::int64_t Retention::*kept_ms = nullptr;
  std::int64_t width_ms = 0;
  std::int64_t slots = 1;
  // Minimum age of the processes and groups with rows in the tier. Jobs of a few minutes are numerous: their buckets of
  // 5 minutes, kept as long as others, would be a tenth of the file. The minimum of groups is lower, because they are
  // few, and the only trace of shorter processes.
  std::int64_t process_age_ms = 0;
  std::int64_t group_age_ms = 0;
  bool keeps_peak_times = false;  // whether buckets keep the time of the peak PSS; only wide buckets do

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

// Index of a tier of rollups in kRollupTiers.
constexpr std::size_t index_of(Tier tier) {
  return static_cast<std::size_t>(tier) - 1;
}
constexpr const TierShape& shape_of(Tier tier) {
  return kRollupTiers.at(index_of(tier));
}

}  // namespace memoir
