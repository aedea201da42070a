#include "store/tiers.h"

namespace memoir {

std::string_view to_string(Tier tier) {
  return tier == Tier::raw ? "raw" : shape_of(tier).name;
}

std::optional<Tier> parse_tier(std::string_view name) {
  if (name == to_string(Tier::raw)) return Tier::raw;
  for (const TierShape& shape : kRollupTiers) {
    if (shape.name == name) return shape.tier;
  }
  return std::nullopt;
}

std::int64_t bucket_ms(Tier tier) {
  return tier == Tier::raw ? 0 : shape_of(tier).width_ms;
}

}  // namespace memoir
