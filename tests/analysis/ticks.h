#pragma once

// Shorthand for series of ticks.

#include <initializer_list>
#include <vector>

#include "model/interval.h"

namespace memoir::test {

struct TickValue {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  std::optional<std::int64_t> value;
};

inline std::vector<Interval> ticks(std::initializer_list<TickValue> values) {
  std::vector<Interval> intervals;
  for (const TickValue& of : values) intervals.push_back(constant(of.from_ms, of.until_ms, of.value));
  return intervals;
}

}  // namespace memoir::test
