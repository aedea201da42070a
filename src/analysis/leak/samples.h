#pragma once

// Rolls up readings of any spacing into the buckets that the leak analysis judges. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "analysis/leak/leak.h"

namespace memoir {

struct LeakSample {
  std::int64_t at_ms = 0;
  double value = 0;            // the reading; if `mean` is given, the minimum of the interval
  std::optional<double> mean;  // mean of the interval up to the next sample
  std::int32_t life = 0;
};

// Fills buckets from values that are each valid for some time. They must be in time order within each life.
class LeakRollup {
 public:
  explicit LeakRollup(std::int64_t width_ms) { series_.width_ms = width_ms; }

  void hold(std::int64_t from_ms, std::int64_t until_ms, double value, std::optional<double> mean = {},
            std::int32_t life = 0);
  LeakSeries take() { return std::move(series_); }

 private:
  LeakSeries series_;
};

// Returns the bucket width for a history of this length: an hour, or a twelfth of an hour if the history is shorter
// than two days.
std::int64_t leak_bucket_ms(std::int64_t history_ms, const LeakSettings& settings = {});

// Rolls up samples, which must be in time order. A sample is valid until the next one of its life, but at most for
// three times the usual spacing; the remainder is a gap. The history of the last life determines the bucket width,
// which is never below the spacing.
LeakSeries roll_up(std::span<const LeakSample> samples, const LeakSettings& settings = {});

}  // namespace memoir
