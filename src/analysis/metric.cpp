#include "analysis/metric.h"

namespace memoir {

std::string_view to_string(Metric metric) {
  switch (metric) {
    case Metric::pss:
      return "pss";
    case Metric::rss:
      return "rss";
    case Metric::uss:
      return "uss";
    case Metric::anon:
      return "anon";
    case Metric::swap:
      return "swap";
    case Metric::swap_pss:
      return "swap_pss";
    case Metric::hwm:
      return "hwm";
  }
  return "unknown";
}

std::string_view metric_title(Metric metric) {
  switch (metric) {
    case Metric::pss:
      return "PSS";
    case Metric::rss:
      return "RSS";
    case Metric::uss:
      return "USS";
    case Metric::swap_pss:
      return "SwapPss";
    case Metric::hwm:
      return "high-water mark";
    case Metric::anon:
    case Metric::swap:
      break;
  }
  return to_string(metric);
}

std::optional<Metric> parse_metric(std::string_view name) {
  for (const Metric metric : kMetrics) {
    if (to_string(metric) == name) return metric;
  }
  return std::nullopt;
}

std::optional<std::int64_t> metric_kib(const ProcessMemory& memory, Metric metric) {
  switch (metric) {
    case Metric::pss:
      return memory.get(ProcessField::pss);
    case Metric::rss:
      return rss_kib(memory);
    case Metric::uss:
      return uss_kib(memory);
    case Metric::anon:
      return anon_kib(memory);
    case Metric::swap:
      return swap_kib(memory);
    case Metric::swap_pss:
      return memory.get(ProcessField::swap_pss);
    case Metric::hwm:
      return high_water_kib(memory);
  }
  return std::nullopt;
}

bool is_exact(Metric metric, Source source) {
  const bool of_status = metric != Metric::pss && metric != Metric::uss && metric != Metric::swap_pss;
  return of_status || source == Source::exact || source == Source::held;
}

std::vector<ProcessField> metric_fields(Metric metric) {
  switch (metric) {
    case Metric::pss:
      return {ProcessField::pss};
    case Metric::rss:
      return {ProcessField::rss, ProcessField::vm_rss};
    case Metric::uss:
      return {ProcessField::private_clean, ProcessField::private_dirty};
    case Metric::anon:
      return {ProcessField::anonymous, ProcessField::rss_anon};
    case Metric::swap:
      return {ProcessField::swap, ProcessField::vm_swap};
    case Metric::swap_pss:
      return {ProcessField::swap_pss};
    case Metric::hwm:
      return {ProcessField::vm_hwm, ProcessField::vm_rss, ProcessField::rss};
  }
  return {};
}

std::optional<std::int64_t> metric_kib(const CategorySample& sample, Metric metric) {
  switch (metric) {
    case Metric::pss:
      return sample.pss_kib;
    case Metric::rss:
      return sample.rss_kib;
    case Metric::uss:
      return sample.uss_kib;
    case Metric::swap:
      return sample.swap_kib;
    case Metric::swap_pss:
      return sample.swap_pss_kib;
    case Metric::anon:
    case Metric::hwm:
      break;
  }
  return std::nullopt;
}

}  // namespace memoir
