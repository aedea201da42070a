#pragma once

// Sums over processes at one time, of all of them or by group. Pure.

#include <array>
#include <cstdint>
#include <optional>

#include "model/machine.h"
#include "model/metric.h"
#include "model/process.h"

namespace memoir {

class Tally {
 public:
  // `family`: as of pss_bounds().
  void add(const ProcessSample& sample, std::int64_t family = 0);
  // Means over a bucket of a rollup, of one process or of a group: how exact they are is not known, nor the high-water
  // mark.
  void add_mean(const MetricValues& means, std::int64_t processes);
  void add(const Tally& other);

  std::int64_t processes() const { return processes_; }
  // Whose source is neither exact nor held. Absent where that is not known.
  std::optional<std::int64_t> inexact() const { return means_ ? std::nullopt : std::optional(inexact_); }

  // The sum of what is known; absent if nothing is. Of hwm the largest: marks were reached at different times, and
  // their sum was never there.
  std::optional<std::int64_t> kib(Metric metric) const { return sums_[static_cast<std::size_t>(metric)]; }

  // How much of the PSS comes from exact readings. Absent without any PSS, and of means.
  std::optional<double> exact_percent() const;

  std::int64_t known_pss_kib() const { return exact_pss_kib_; }

  // Between which the PSS of all is, with RSS as the most of those that may not be read. Absent of means.
  std::optional<PssBounds> pss_bounds() const { return means_ ? std::nullopt : std::optional(bounds_); }

  // Of the estimated ones alone: what they are thought to hold, and between which that is.
  struct Estimates {
    std::int64_t processes = 0;
    std::int64_t pss_kib = 0;
    PssBounds bounds;
  };
  const Estimates& estimates() const { return estimates_; }

 private:
  void count(Metric metric, std::optional<std::int64_t> value);

  bool means_ = false;
  std::int64_t processes_ = 0;
  std::int64_t inexact_ = 0;
  std::int64_t exact_pss_kib_ = 0;
  PssBounds bounds_;
  Estimates estimates_;
  std::array<std::optional<std::int64_t>, kMetrics.size()> sums_;
};

// By how much the estimates of `some` of all processes can be wrong together: as their bounds say, but no more is
// mapped than the machine tells, of which others are known to hold a part. Absent where none is estimated.
std::optional<std::int64_t> estimates_off_most_kib(const Tally& some, const Tally& all, const MachineMemory& machine);

// Absent where one of them is.
inline std::optional<std::int64_t> difference(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

// `part` of `whole` in percent; absent where there is no whole.
std::optional<double> share_percent(std::optional<std::int64_t> part, std::optional<std::int64_t> whole);

}  // namespace memoir
