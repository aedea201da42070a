#pragma once

// The list of all metrics: single numbers of a process, a group of processes or the machine. Commands rank rows by
// metrics and draw series of them; rollups and high-water marks store them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/field_rule.h"
#include "model/machine.h"
#include "model/memory_breakdown.h"
#include "model/subject.h"
#include "model/tick.h"

namespace memoir {

enum class Metric : std::uint8_t {
  // Metrics of processes and, except hwm, of their groups.
  pss,
  rss,
  uss,
  anon,
  swap,
  swap_pss,
  hwm,
  hugetlb,
  // Metrics of cgroups: the kernel's own counters.
  usage,
  usage_anon,
  usage_swap,
  // Metrics of the machine. Each MachineField is a metric as well, from `fields` on.
  used,
  swap_used,
  unaccounted,
  fields,
};

constexpr Metric metric_of(MachineField field) {
  return static_cast<Metric>(static_cast<std::size_t>(Metric::fields) + static_cast<std::size_t>(field));
}

std::optional<MachineField> machine_field(Metric metric);

// How rollups of processes and groups store a metric. Its columns are NAME_kib, NAME_low, NAME_mean and NAME_high.
enum class RollupForm : std::uint8_t {
  none,
  first,
  like_first,  // low, mean and high are NULL if they equal those of the first
  whole,
  apart,  // the metric has rows of its own in swap_TIER, and no row for 0
};

// Where `top` shows the metric as a column: in every format, or only in machine-readable formats unless it ranks by it.
enum class TopColumn : std::uint8_t { everywhere, when_ranked };

// The number of metrics that are not stored. The number of a stored metric never changes.
inline constexpr int kNoNumber = 0;

struct MetricInfo {
  Metric metric = {};
  int number = kNoNumber;        // number in the database's table metric
  std::string_view name = {};    // value of --by: "pss"; empty: no command ranks by it
  std::string_view title = {};   // name in sentences: "PSS", "high-water mark"
  std::string_view column = {};  // "pss_kib"
  std::string_view header = {};  // "PSS"
  SubjectKinds kinds = {};       // subject kinds that have it
  SubjectKinds marked = {};      // kinds that have a high-water mark of it
  bool lowest = false;           // the mark is the lowest value
  RollupForm rollup = RollupForm::none;
  std::optional<Metric> known_by = {};  // RollupForm::apart: a missing row means 0 if this metric is known
  bool of_smaps = false;                // read from smaps_rollup; without a reading, RSS replaces it, or it is absent
  bool counted = false;                 // a group's value is the kernel's own count instead of a sum over its processes
  bool adds_up = true;                  // false for marks, which were reached at different times
  ProcessRule rule = {};                // computes the value of a process
  std::int64_t CategorySample::*of_category = nullptr;
  bool ranks = true;  // --by accepts it in commands that rank by one metric
  TopColumn top = TopColumn::everywhere;
  int drop_order = 0;  // rank of its column in `top`: on a narrow screen, the highest is dropped first; 0: never
};

namespace metric_list {

inline constexpr SubjectKinds kOfProcesses{SubjectKind::process, SubjectKind::category, SubjectKind::identity,
                                           SubjectKind::cgroup};
inline constexpr SubjectKinds kOfGroups{SubjectKind::category, SubjectKind::identity, SubjectKind::cgroup};
inline constexpr SubjectKinds kOfMachine{SubjectKind::machine};

// All metrics except the machine's fields.
inline constexpr std::array kOwn{
    MetricInfo{.metric = Metric::pss,
               .number = 1,
               .name = "pss",
               .title = "PSS",
               .column = "pss_kib",
               .header = "PSS",
               .kinds = kOfProcesses,
               .marked = kOfProcesses,
               .rollup = RollupForm::like_first,
               .of_smaps = true,
               .rule = {.of = {ProcessField::pss}},
               .of_category = &CategorySample::pss_kib,
               .drop_order = 1},
    MetricInfo{.metric = Metric::rss,
               .number = 2,
               .name = "rss",
               .title = "RSS",
               .column = "rss_kib",
               .header = "RSS",
               .kinds = kOfProcesses,
               .marked = kOfGroups,
               .rollup = RollupForm::like_first,
               .rule = kRssRule,
               .of_category = &CategorySample::rss_kib,
               .drop_order = 2},
    MetricInfo{.metric = Metric::uss,
               .number = 3,
               .name = "uss",
               .title = "USS",
               .column = "uss_kib",
               .header = "USS",
               .kinds = kOfProcesses,
               .marked = kOfProcesses,
               .rollup = RollupForm::like_first,
               .of_smaps = true,
               .rule = kUssRule,
               .of_category = &CategorySample::uss_kib,
               .drop_order = 6},
    MetricInfo{.metric = Metric::anon,
               .number = 4,
               .name = "anon",
               .title = "anon",
               .column = "anon_kib",
               .header = "ANON",
               .kinds = {SubjectKind::process, SubjectKind::identity, SubjectKind::cgroup},
               .rollup = RollupForm::first,
               .rule = kAnonRule,
               .top = TopColumn::when_ranked},
    MetricInfo{.metric = Metric::swap,
               .number = 5,
               .name = "swap",
               .title = "swap",
               .column = "swap_kib",
               .header = "SWAP",
               .kinds = kOfProcesses,
               .marked = kOfProcesses,
               .rollup = RollupForm::apart,
               .known_by = Metric::anon,
               .rule = kSwapRule,
               .of_category = &CategorySample::swap_kib,
               .drop_order = 4},
    MetricInfo{.metric = Metric::swap_pss,
               .number = 6,
               .name = "swap_pss",
               .title = "SwapPss",
               .column = "swap_pss_kib",
               .header = "SWAPPSS",
               .kinds = kOfProcesses,
               .rollup = RollupForm::apart,
               .known_by = Metric::uss,
               .of_smaps = true,
               .rule = {.of = {ProcessField::swap_pss}},
               .of_category = &CategorySample::swap_pss_kib,
               .ranks = false,
               .top = TopColumn::when_ranked},
    MetricInfo{.metric = Metric::hwm,
               .number = 7,
               .name = "hwm",
               .title = "high-water mark",
               .column = "hwm_kib",
               .header = "HWM",
               .kinds = {SubjectKind::process, SubjectKind::identity},
               .marked = {SubjectKind::process, SubjectKind::identity},
               .adds_up = false,
               .rule = kHighWaterRule,
               .drop_order = 3},
    // Neither RSS nor PSS includes these pages. A page that several processes map counts in each.
    MetricInfo{.metric = Metric::hugetlb,
               .number = 85,
               .name = "hugetlb",
               .title = "huge pages (hugetlb)",
               .column = "hugetlb_pages_kib",
               .header = "HUGETLB",
               .kinds = kOfProcesses,
               .marked = kOfProcesses,
               .rollup = RollupForm::apart,
               .known_by = Metric::anon,
               .rule = {.of = {ProcessField::hugetlb_pages}},
               .of_category = &CategorySample::hugetlb_kib,
               .top = TopColumn::when_ranked,
               .drop_order = 2},
    MetricInfo{.metric = Metric::usage,
               .number = 8,
               .name = "usage",
               .title = "usage",
               .column = "usage_kib",
               .marked = {SubjectKind::cgroup},
               .counted = true},
    MetricInfo{.metric = Metric::usage_anon,
               .number = 9,
               .name = "usage_anon",
               .title = "anonymous usage",
               .column = "usage_anon_kib",
               .marked = {SubjectKind::cgroup},
               .counted = true},
    MetricInfo{.metric = Metric::usage_swap,
               .number = 10,
               .name = "usage_swap",
               .title = "swap usage",
               .column = "usage_swap_kib",
               .marked = {SubjectKind::cgroup},
               .counted = true},
    MetricInfo{.metric = Metric::used,
               .number = 11,
               .name = "used",
               .title = "memory in use",
               .column = "used_kib",
               .kinds = kOfMachine,
               .marked = kOfMachine,
               .rollup = RollupForm::whole},
    MetricInfo{.metric = Metric::swap_used,
               .number = 12,
               .name = "swap",
               .title = "swap in use",
               .column = "swap_used_kib",
               .kinds = kOfMachine,
               .marked = kOfMachine,
               .rollup = RollupForm::whole},
    MetricInfo{.metric = Metric::unaccounted,
               .number = 13,
               .name = kUnaccounted,
               .title = "unaccounted memory",
               .column = "unaccounted_kib",
               .kinds = kOfMachine,
               .rollup = RollupForm::whole},
};

// Names of machine metrics in --by, the default first.
struct MachineName {
  Metric metric;
  std::string_view name;
};
inline constexpr std::array kMachineNames{MachineName{Metric::used, "used"},
                                          MachineName{metric_of(MachineField::mem_available), "available"},
                                          MachineName{metric_of(MachineField::mem_free), "free"},
                                          MachineName{metric_of(MachineField::per_cpu_free), "per-cpu-free"},
                                          MachineName{metric_of(MachineField::cached), "cached"},
                                          MachineName{metric_of(MachineField::anon_pages), "anon"},
                                          MachineName{Metric::swap_used, "swap"},
                                          MachineName{metric_of(MachineField::shmem), "shmem"},
                                          MachineName{metric_of(MachineField::slab), "slab"},
                                          MachineName{metric_of(MachineField::dirty), "dirty"},
                                          MachineName{Metric::unaccounted, kUnaccounted}};

constexpr MetricInfo of_field(const MachineFieldInfo& field) {
  const Metric metric = metric_of(field.field);
  const auto* const named = std::ranges::find(kMachineNames, metric, &MachineName::metric);
  const bool available = field.field == MachineField::mem_available;
  return {.metric = metric,
          .number = field.number,
          .name = named == kMachineNames.end() ? "" : named->name,
          .title = field.key,
          .column = field.column,
          .kinds = kOfMachine,
          .marked = available ? kOfMachine : SubjectKinds{},
          .lowest = available,
          .rollup = field.number == kNoNumber ? RollupForm::none : RollupForm::whole};
}

}  // namespace metric_list

// All metrics, each at the index of its enumerator.
inline constexpr auto kMetricInfos = [] {
  std::array<MetricInfo, metric_list::kOwn.size() + MachineMemory::kCount> infos{};
  auto* next = std::ranges::copy(metric_list::kOwn, infos.begin()).out;
  for (const MachineFieldInfo& field : kMachineFields) *next++ = metric_list::of_field(field);
  return infos;
}();

constexpr const MetricInfo& info_of(Metric metric) {
  return kMetricInfos.at(static_cast<std::size_t>(metric));
}

constexpr bool is_rolled_up(Metric metric) {
  return info_of(metric).rollup != RollupForm::none;
}

// Checks that each metric is at its index, and has a title and a column. Numbers must be unique, and each metric with
// marks or rollups must have one.
static_assert(metric_list::kOwn.size() == static_cast<std::size_t>(Metric::fields));
constexpr bool is_metric_list() {
  for (std::size_t i = 0; i < kMetricInfos.size(); ++i) {
    const MetricInfo& info = kMetricInfos[i];
    if (static_cast<std::size_t>(info.metric) != i || info.column.empty() || info.title.empty()) return false;
    if ((info.rollup == RollupForm::apart) != info.known_by.has_value()) return false;
    const bool in_file = info.rollup != RollupForm::none || info.marked != SubjectKinds{};
    if (in_file && info.number == kNoNumber) return false;
    for (std::size_t j = 0; j < i && info.number != kNoNumber; ++j)
      if (kMetricInfos[j].number == info.number) return false;
  }
  return true;
}
static_assert(is_metric_list());

// The metrics with infos that `takes` accepts, in their order. `Takes` has no state.
template <typename Takes>
constexpr auto metrics_with(Takes takes) {
  constexpr auto count = static_cast<std::size_t>(std::ranges::count_if(kMetricInfos, Takes{}));
  std::array<Metric, count> metrics{};
  std::size_t found = 0;
  for (const MetricInfo& info : kMetricInfos) {
    if (takes(info)) metrics[found++] = info.metric;
  }
  return metrics;
}

// The metrics of processes.
inline constexpr auto kMetrics =
    metrics_with([](const MetricInfo& info) { return info.kinds.contains(SubjectKind::process); });
static_assert(kMetrics.size() == static_cast<std::size_t>(kMetrics.back()) + 1, "MetricValues is indexed by metric");

std::string_view to_string(Metric metric);
std::string_view metric_title(Metric metric);
std::vector<std::string> names_of(std::span<const Metric> metrics);
std::optional<Metric> parse_metric(std::string_view name, SubjectKind kind = SubjectKind::process);

// Metrics to rank by and to draw, the default first.
const std::vector<Metric>& metrics_of(SubjectKind kind);

// The machine's fields in kMachineSizes.
const std::vector<Metric>& machine_size_metrics();

inline constexpr auto kRankedMetrics =
    metrics_with([](const MetricInfo& info) { return info.kinds.contains(SubjectKind::process) && info.ranks; });
inline constexpr auto kCategoryMetrics =
    metrics_with([](const MetricInfo& info) { return info.kinds.contains(SubjectKind::category); });

// Machine metrics in rollups.
inline constexpr auto kRolledMachineMetrics = metrics_with([](const MetricInfo& info) {
  return info.kinds.contains(SubjectKind::machine) && info.rollup != RollupForm::none;
});

// Metrics of processes and groups in rollups, in the order of RollupForm. Other metrics share low, mean and high with
// the first one; metrics in tables of their own come last.
inline constexpr auto kRolledMetrics = [] {
  auto metrics = metrics_with([](const MetricInfo& info) {
    return info.kinds.contains(SubjectKind::process) && info.rollup != RollupForm::none;
  });
  std::ranges::sort(metrics, {}, [](Metric metric) { return std::pair(info_of(metric).rollup, metric); });
  return metrics;
}();
static_assert(info_of(kRolledMetrics[0]).rollup == RollupForm::first &&
              info_of(kRolledMetrics[1]).rollup != RollupForm::first);
inline constexpr std::size_t kRollupMetrics = kRolledMetrics.size();
constexpr std::size_t rolled_index(Metric metric) {
  return static_cast<std::size_t>(std::ranges::find(kRolledMetrics, metric) - kRolledMetrics.begin());
}

// Metrics with high-water marks for a subject kind.
const std::vector<Metric>& marked_metrics(SubjectKind kind);
// The marked metrics that a sample of the subject has; the others are sums over its processes.
const std::vector<Metric>& sampled_marks(SubjectKind kind);

// Return the metric's value; nullopt if it is unknown, or if the metric belongs to another subject kind. RSS replaces
// PSS if the sample's source says so. Categories have no anon and no hwm.
std::optional<std::int64_t> metric_kib(const ProcessMemory& memory, Metric metric);
std::optional<std::int64_t> metric_kib(const CategorySample& sample, Metric metric);
std::optional<std::int64_t> metric_kib(const CgroupSample& sample, Metric metric);
std::optional<std::int64_t> metric_value(const MachineMemory& memory, Metric metric);

// All of kMetrics for a process or a group: values of a tick, or means over a bucket.
struct MetricValues {
  std::array<std::optional<std::int64_t>, kMetrics.size()> values;

  std::optional<std::int64_t>& operator[](Metric metric) { return values.at(static_cast<std::size_t>(metric)); }
  std::optional<std::int64_t> operator[](Metric metric) const { return values.at(static_cast<std::size_t>(metric)); }
};

template <typename Of>
MetricValues metric_values(const Of& of) {
  MetricValues values;
  for (const Metric metric : kMetrics) values[metric] = metric_kib(of, metric);
  return values;
}

// Returns whether `value` is a new mark: above the current mark, or below it for MemAvailable. A value of 0 is never a
// new high-water mark.
bool raises(Metric metric, std::int64_t value, std::optional<std::int64_t> mark);

// Returns whether the metric is exact in a sample with that source.
bool is_exact(Metric metric, Source source);

}  // namespace memoir
