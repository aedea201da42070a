#include "analysis/grouping.h"

#include <algorithm>

namespace memoir {

namespace {

void add_bounds(PssBounds& sum, const PssBounds& bounds) {
  sum.min_kib += bounds.min_kib;
  sum.max_kib += bounds.max_kib;
}

}  // namespace

void Tally::add(const ProcessSample& sample, std::int64_t family) {
  const bool exact = is_known(sample.source) && sample.memory.has(ProcessField::pss);
  ++processes_;
  if (!exact) ++inexact_;
  const std::int64_t pss_kib = sample.memory.or_zero(ProcessField::pss);
  if (exact) exact_pss_kib_ += pss_kib;
  const PssBounds bounds = memoir::pss_bounds(sample, family);
  add_bounds(bounds_, bounds);
  if (sample.source == Source::estimated) {
    ++estimates_.processes;
    estimates_.pss_kib += pss_kib;
    add_bounds(estimates_.bounds, bounds);
  }
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
  add_bounds(bounds_, other.bounds_);
  estimates_.processes += other.estimates_.processes;
  estimates_.pss_kib += other.estimates_.pss_kib;
  add_bounds(estimates_.bounds, other.estimates_.bounds);
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

std::optional<std::int64_t> estimates_off_most_kib(const Tally& some, const Tally& all, const MachineMemory& machine) {
  const Tally::Estimates& estimates = some.estimates();
  if (estimates.processes == 0) return std::nullopt;
  std::int64_t above_kib = estimates.bounds.max_kib - estimates.pss_kib;
  const auto anonymous = machine.get(MachineField::anon_pages);
  const auto mapped = machine.get(MachineField::mapped);
  if (anonymous && mapped) {
    const std::int64_t room_kib = *anonymous + *mapped - all.known_pss_kib() - estimates.pss_kib;
    above_kib = std::min(above_kib, std::max<std::int64_t>(room_kib, 0));
  }
  return std::max(above_kib, estimates.pss_kib - estimates.bounds.min_kib);
}

std::optional<double> share_percent(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return 100.0 * static_cast<double>(*part) / static_cast<double>(*whole);
}

}  // namespace memoir
