#pragma once

// Sums over processes at one time, of all of them or by group. Pure.

#include <array>
#include <cstdint>
#include <optional>

#include "analysis/metric.h"

namespace memoir {

class Tally {
 public:
  void add(const ProcessSample& sample);

  std::int64_t processes() const { return processes_; }
  std::int64_t inexact() const { return inexact_; }  // whose source is neither exact nor held

  // The sum of what is known; absent if nothing is. Of hwm the largest: marks were reached at different times, and
  // their sum was never there.
  std::optional<std::int64_t> kib(Metric metric) const { return sums_[static_cast<std::size_t>(metric)]; }

  // How much of the PSS comes from exact readings. Absent without any PSS.
  std::optional<double> exact_percent() const;

 private:
  std::int64_t processes_ = 0;
  std::int64_t inexact_ = 0;
  std::int64_t exact_pss_kib_ = 0;
  std::array<std::optional<std::int64_t>, kMetrics.size()> sums_;
};

// `part` of `whole` in percent; absent where there is no whole.
std::optional<double> share_percent(std::optional<std::int64_t> part, std::optional<std::int64_t> whole);

}  // namespace memoir
