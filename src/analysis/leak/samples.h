#pragma once

// Readings of any spacing, rolled up into the buckets that leak analysis judges. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "analysis/leak/leak.h"

namespace memoir {

struct LeakSample {
  std::int64_t at_ms = 0;
  double value = 0;            // the least of its interval, if `mean` is given
  std::optional<double> mean;  // of the interval until the next sample
  std::int32_t life = 0;
};

// Fills buckets from values that hold for a while, in order of time within each life.
class LeakRollup {
 public:
  explicit LeakRollup(std::int64_t width_ms) { series_.width_ms = width_ms; }

  void hold(std::int64_t from_ms, std::int64_t until_ms, double value, std::optional<double> mean = {},
            std::int32_t life = 0);
  LeakSeries take() { return std::move(series_); }

 private:
  LeakSeries series_;
};

// The width that a history of this length is judged by: an hour, or a twelfth of one where it is shorter than two days.
std::int64_t leak_bucket_ms(std::int64_t history_ms, const LeakSettings& settings = {});

// Samples in order of time. A sample holds until the next one of its life, but not for longer than three times the
// usual spacing: what is beyond is a gap. The width is that of the last life's history, and never narrower than the
// spacing.
LeakSeries roll_up(std::span<const LeakSample> samples, const LeakSettings& settings = {});

}  // namespace memoir
