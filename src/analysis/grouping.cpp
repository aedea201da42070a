#include "analysis/grouping.h"

#include <algorithm>

namespace memoir {

void Tally::add(const ProcessSample& sample) {
  const bool exact = is_known(sample.source);
  ++processes_;
  if (!exact) ++inexact_;
  if (exact) exact_pss_kib_ += sample.memory.or_zero(ProcessField::pss);
  for (const Metric metric : kMetrics) count(metric, metric_kib(sample.memory, metric));
}

void Tally::add_mean(const MetricValues& means, std::int64_t processes) {
  means_ = true;
  processes_ += processes;
  for (const Metric metric : kMetrics) {
    if (metric != Metric::hwm) count(metric, means[metric]);
  }
}

void Tally::add(const Tally& other) {
  means_ = means_ || other.means_;
  processes_ += other.processes_;
  inexact_ += other.inexact_;
  exact_pss_kib_ += other.exact_pss_kib_;
  for (const Metric metric : kMetrics) count(metric, other.kib(metric));
}

void Tally::count(Metric metric, std::optional<std::int64_t> value) {
  if (!value) return;
  std::optional<std::int64_t>& sum = sums_[static_cast<std::size_t>(metric)];
  sum = metric == Metric::hwm ? std::max(sum.value_or(0), *value) : sum.value_or(0) + *value;
}

std::optional<double> Tally::exact_percent() const {
  if (means_) return std::nullopt;
  return share_percent(exact_pss_kib_, kib(Metric::pss));
}

std::optional<double> share_percent(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return 100.0 * static_cast<double>(*part) / static_cast<double>(*whole);
}

}  // namespace memoir
