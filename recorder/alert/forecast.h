#pragma once

// Leaks, and when they will reach their limits, from the output of `memoir leaks --format json`. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memoir {

struct Forecast {
  std::string subject;                           // identifies the series: an identity or the machine, and the metric
  std::string title;                             // human-readable name of the series
  std::string limit;                             // "memory.max of /system.slice/shop.service"; empty: none
  std::optional<std::int64_t> in_ms;             // time until the limit is reached; nullopt if memoir predicts none
  std::int64_t confidence = 0;                   // from 0 to 100
  bool confirmed = false;                        // true if it was already a leak a day ago
  std::optional<std::int64_t> kib_per_day = {};  // growth; nullopt for metrics that are not memory

  bool operator==(const Forecast&) const = default;
};

// Returns the leaks in the order of the output: the leak that reaches its limit soonest comes first.
Result<std::vector<Forecast>> parse_forecasts(std::string_view json);

}  // namespace memoir
