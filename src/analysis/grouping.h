#pragma once

// Sums over processes at one time: all of them, or one group. Pure.

#include <array>
#include <cstdint>
#include <optional>

#include "model/machine.h"
#include "model/metric.h"
#include "model/process.h"

namespace memoir {

class Tally {
 public:
  // `family`: see pss_bounds().
  void add(const ProcessSample& sample, std::int64_t family = 0);
  // Adds the means of one process or group over a rollup bucket. They have neither exactness nor a high-water mark.
  void add_mean(const MetricValues& means, std::int64_t processes);
  void add(const Tally& other);

  std::int64_t processes() const { return processes_; }
  // Number of processes with a source other than exact and held; nullopt for means.
  std::optional<std::int64_t> inexact() const { return means_ ? std::nullopt : std::optional(inexact_); }

  // Sum of the known values; nullopt if none is known. For hwm it is the largest value, because marks that were reached
  // at different times have no meaningful sum.
  std::optional<std::int64_t> kib(Metric metric) const { return sums_[static_cast<std::size_t>(metric)]; }

  // Share of the PSS that was read exactly, in percent; nullopt without PSS, and for means.
  std::optional<double> exact_percent() const;

  std::int64_t known_pss_kib() const { return exact_pss_kib_; }

  // Bounds of the total PSS; nullopt for means. The upper bound of an unreadable process is its RSS.
  std::optional<PssBounds> pss_bounds() const { return means_ ? std::nullopt : std::optional(bounds_); }

  // The processes with an estimated PSS: their number, the sum of their PSS, and its bounds.
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

// Returns the maximum total error of the estimates among `some` of all processes, in KiB; nullopt if none is estimated.
// It follows from their bounds, and from the machine's mapped memory minus the known PSS of other processes.
std::optional<std::int64_t> estimates_off_most_kib(const Tally& some, const Tally& all, const MachineMemory& machine);

// Returns a - b; nullopt if either is absent.
inline std::optional<std::int64_t> difference(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

// Returns `part` of `whole` in percent; nullopt if either is absent, or `whole` is 0.
std::optional<double> share_percent(std::optional<std::int64_t> part, std::optional<std::int64_t> whole);

}  // namespace memoir
