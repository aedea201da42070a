#pragma once

// The tiers of the history: ticks, and rollups of three widths. What they are called, and how each cuts time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

// How fine a history is kept: every tick for days, buckets of 5 minutes for weeks, of an hour for a year, of a UTC day
// for good (config [store]).
enum class Tier : std::uint8_t { raw, five_minutes, hour, day };

inline constexpr std::array kRollupTiers{Tier::five_minutes, Tier::hour, Tier::day};

// "raw", "5min", "hour", "day"
std::string_view to_string(Tier tier);
std::optional<Tier> parse_tier(std::string_view name);
std::int64_t bucket_ms(Tier tier);  // 0 for raw

// How a tier cuts time: blocks of `slots` buckets.
struct TierShape {
  Tier tier = Tier::raw;
  const char* name = "";   // of its tables: rollup_NAME, machine_NAME
  const char* block = "";  // the column
  const char* floor = "";  // the column of `retention` that says what is on its way out
  std::int64_t width_ms = 0;
  std::int64_t slots = 1;
  bool keeps_peak_times = false;  // of PSS: a bucket of the others is narrow enough

  std::int64_t block_ms() const { return width_ms * slots; }
};

const TierShape& shape_of(Tier tier);  // not of raw

// The tiers of the rollups, the finest first.
inline constexpr std::size_t kTiers = 3;
inline constexpr std::array<std::int64_t, kTiers> kTierBlockMs{3'600'000, 86'400'000, 86'400'000};
inline constexpr std::array<std::int64_t, kTiers> kTierBucketMs{300'000, 3'600'000, 86'400'000};
// From what age a process has rows of its own in a tier. Jobs of some minutes are many: what they leave for as long as
// there are buckets of 5 minutes would be a tenth of the file.
inline constexpr std::array<std::int64_t, kTiers> kProcessAgeMs{900'000, 3'600'000, 86'400'000};

}  // namespace memoir
