#include "model/interval.h"

#include <algorithm>
#include <cmath>

namespace memoir {

Interval clipped(const Interval& interval, std::int64_t from_ms, std::int64_t until_ms) {
  Interval part = interval;
  part.from_ms = std::max(interval.from_ms, from_ms);
  part.until_ms = std::min(interval.until_ms, until_ms);
  const std::int64_t whole = interval.until_ms - interval.from_ms;
  const std::int64_t inside = part.until_ms - part.from_ms;
  if (whole == 0 || inside == whole) return part;
  const double share = static_cast<double>(inside) / static_cast<double>(whole);
  part.covered_ms = std::llround(share * static_cast<double>(interval.covered_ms));
  return part;
}

void end_with(std::int64_t last_tick_ms, Interval& bucket) {
  if (bucket.from_ms < last_tick_ms) bucket.until_ms = std::min(bucket.until_ms, last_tick_ms);
}

}  // namespace memoir
