#pragma once

// What leaks, and when it will have used up its limit: out of the answer of `memoir leaks --format json`. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memoir {

struct Forecast {
  std::string subject;  // names the series: an identity or the machine, and the metric
  std::string title;    // for people
  std::string limit;    // "memory.max of /system.slice/shop.service"
  std::int64_t in_ms = 0;
  std::int64_t confidence = 0;  // of 100

  bool operator==(const Forecast&) const = default;
};

// Those with a time, in the order of the answer: what runs out soonest first.
Result<std::vector<Forecast>> parse_forecasts(std::string_view json);

}  // namespace memoir
