#include "model/metric.h"

#include "base/transformed.h"

namespace memoir {

namespace {

template <typename Takes>
std::vector<Metric> those(Takes&& takes) {
  std::vector<Metric> metrics;
  for (const MetricInfo& info : kMetricInfos) {
    if (takes(info)) metrics.push_back(info.metric);
  }
  return metrics;
}

template <typename Takes>
std::array<std::vector<Metric>, kSubjectKinds.size()> by_kind(Takes&& takes) {
  std::array<std::vector<Metric>, kSubjectKinds.size()> all;
  for (const SubjectKind kind : kSubjectKinds)
    all.at(static_cast<std::size_t>(kind)) = those([&](const MetricInfo& info) { return takes(kind, info); });
  return all;
}

}  // namespace

std::optional<MachineField> machine_field(Metric metric) {
  if (metric < Metric::fields) return std::nullopt;
  return static_cast<MachineField>(static_cast<std::size_t>(metric) - static_cast<std::size_t>(Metric::fields));
}

std::string_view to_string(Metric metric) {
  return info_of(metric).name;
}

std::string_view metric_title(Metric metric) {
  return info_of(metric).title;
}

std::vector<std::string> names_of(std::span<const Metric> metrics) {
  return transformed(metrics, [](Metric metric) { return std::string(to_string(metric)); });
}

std::optional<Metric> parse_metric(std::string_view name, SubjectKind kind) {
  const std::vector<Metric>& metrics = metrics_of(kind);
  const auto found = std::ranges::find(metrics, name, [](Metric metric) { return to_string(metric); });
  return found == metrics.end() ? std::nullopt : std::optional(*found);
}

const std::vector<Metric>& metrics_of(SubjectKind kind) {
  static const std::vector<Metric> of_machine =
      transformed(metric_list::kMachineNames, &metric_list::MachineName::metric);
  static const std::vector<Metric> of_processes(kMetrics.begin(), kMetrics.end());
  return kind == SubjectKind::machine ? of_machine : of_processes;
}

const std::vector<Metric>& machine_size_metrics() {
  static const std::vector<Metric> metrics = transformed(kMachineSizes, metric_of);
  return metrics;
}

const std::vector<Metric>& marked_metrics(SubjectKind kind) {
  static const auto marked = by_kind([](SubjectKind of, const MetricInfo& info) { return info.marked.contains(of); });
  return marked.at(static_cast<std::size_t>(kind));
}

const std::vector<Metric>& sampled_marks(SubjectKind kind) {
  static const auto sampled = by_kind([](SubjectKind of, const MetricInfo& info) {
    return info.marked.contains(of) && (info.counted || !info_of(of).summed);
  });
  return sampled.at(static_cast<std::size_t>(kind));
}

std::optional<std::int64_t> metric_kib(const ProcessMemory& memory, Metric metric) {
  const ProcessRule& rule = info_of(metric).rule;
  return rule.of.size() == 0 ? std::nullopt : value_of(rule, memory);
}

std::optional<std::int64_t> metric_kib(const CategorySample& sample, Metric metric) {
  const auto member = info_of(metric).of_category;
  return member == nullptr ? std::nullopt : std::optional(sample.*member);
}

std::optional<std::int64_t> metric_kib(const CgroupSample& sample, Metric metric) {
  if (metric == Metric::usage) return sample.current_kib;
  if (metric == Metric::usage_swap) return sample.swap_kib;
  return metric == Metric::usage_anon ? sample.anon_kib : std::nullopt;
}

std::optional<std::int64_t> metric_value(const MachineMemory& memory, Metric metric) {
  if (metric == Metric::used) return used_kib(memory);
  if (metric == Metric::swap_used) return swap_used_kib(memory);
  if (metric == Metric::unaccounted) return unaccounted_kib(memory);
  const auto field = machine_field(metric);
  return field ? memory.get(*field) : std::nullopt;
}

bool raises(Metric metric, std::int64_t value, std::optional<std::int64_t> mark) {
  if (info_of(metric).lowest) return !mark || value < *mark;
  return value > mark.value_or(0);
}

bool is_exact(Metric metric, Source source) {
  return !info_of(metric).of_smaps || is_known(source);
}

}  // namespace memoir
