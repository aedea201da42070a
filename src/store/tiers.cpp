#include "store/tiers.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::array kShapes{
    TierShape{Tier::five_minutes, "5min", "hour", "five_minutes_from_ms", kTierBucketMs[0], 12},
    TierShape{Tier::hour, "hour", "day", "hour_from_ms", kTierBucketMs[1], 24, true},
    TierShape{Tier::day, "day", "day", "day_from_ms", kTierBucketMs[2], 1, true},
};

}  // namespace

const TierShape& shape_of(Tier tier) {
  return *std::find_if(kShapes.begin(), kShapes.end() - 1,
                       [tier](const TierShape& shape) { return shape.tier == tier; });
}

std::string_view to_string(Tier tier) {
  constexpr std::array names{"raw", "5min", "hour", "day"};
  return names.at(static_cast<std::size_t>(tier));
}

std::optional<Tier> parse_tier(std::string_view name) {
  for (const Tier tier : {Tier::raw, Tier::five_minutes, Tier::hour, Tier::day}) {
    if (to_string(tier) == name) return tier;
  }
  return std::nullopt;
}

std::int64_t bucket_ms(Tier tier) {
  return tier == Tier::raw ? 0 : shape_of(tier).width_ms;
}

}  // namespace memoir
