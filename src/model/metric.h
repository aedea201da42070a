#pragma once

// The one list of metrics: memory in one number, of a process, of a group of processes or of the machine. What rows are
// ranked by, series are drawn of, rollups keep and high-water marks are of.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/machine.h"
#include "model/subject.h"
#include "model/tick.h"

namespace memoir {

enum class Metric : std::uint8_t {
  // Of processes, and but for hwm of the groups that they make.
  pss,
  rss,
  uss,
  anon,
  swap,
  swap_pss,
  hwm,
  // Of cgroups, by the kernel's own counters.
  usage,
  usage_anon,
  usage_swap,
  // Of the machine. From `fields` on each of its fields is one.
  used,
  swap_used,
  unaccounted,
  fields,
};

inline constexpr std::array kMetrics{Metric::pss,  Metric::rss,      Metric::uss, Metric::anon,
                                     Metric::swap, Metric::swap_pss, Metric::hwm};

constexpr Metric metric_of(MachineField field) {
  return static_cast<Metric>(static_cast<std::size_t>(Metric::fields) + static_cast<std::size_t>(field));
}

std::optional<MachineField> machine_field(Metric metric);

struct MetricInfo {
  std::string_view name;    // as in --by: "pss"; empty: nobody ranks by it
  std::string_view title;   // as people write it: "PSS", "high-water mark"
  std::string_view column;  // "pss_kib"
  SubjectKinds kinds = {};  // that have it
  bool rolled_up = false;
  SubjectKinds marked = {};  // kinds that have a high-water mark of it; of mem_available it is a low-water mark
  std::int64_t mark = -1;    // the store's number of it (table high_water_metric)
  bool of_smaps = false;     // only smaps_rollup tells it: without it RSS or nothing stands in
  bool counted = false;      // of a group: the kernel's own count, which is no sum over its processes
  bool adds_up = true;       // marks that were reached at different times have no sum
  std::span<const ProcessField> fields = {};  // of a process, that it is made of
  std::optional<std::int64_t> (*of_process)(const ProcessMemory&) = nullptr;
  std::int64_t CategorySample::*of_category = nullptr;
};
const MetricInfo& info_of(Metric metric);

std::string_view to_string(Metric metric);
std::string_view metric_title(Metric metric);
std::optional<Metric> parse_metric(std::string_view name, SubjectKind kind = SubjectKind::process);

// What people may rank by and draw, the default first.
const std::vector<Metric>& metrics_of(SubjectKind kind);

// Of the machine's fields those of kMachineSizes.
const std::vector<Metric>& machine_size_metrics();

// Those of the machine that are rolled up, in the order in which they are.
const std::vector<Metric>& rolled_up_machine_metrics();

// Those of the rest, in the order of the rollups' columns.
inline constexpr std::array kRolledMetrics{Metric::anon, Metric::rss,  Metric::pss,
                                           Metric::uss,  Metric::swap, Metric::swap_pss};
inline constexpr std::size_t kRollupMetrics = kRolledMetrics.size();
constexpr std::size_t rolled_index(Metric metric) {
  return static_cast<std::size_t>(std::ranges::find(kRolledMetrics, metric) - kRolledMetrics.begin());
}

// Those that a kind of subject has high-water marks of.
const std::vector<Metric>& marked_metrics(SubjectKind kind);
// Those among them that a sample tells, so that their marks are made as ticks are stored; the others are sums over
// members, which take a replay.
const std::vector<Metric>& sampled_marks(SubjectKind kind);

// Absent where it was not known, or is of another kind of subject. RSS stands in for PSS where the sample's source says
// so. Categories have no anon and no hwm.
std::optional<std::int64_t> metric_kib(const ProcessMemory& memory, Metric metric);
std::optional<std::int64_t> metric_kib(const CategorySample& sample, Metric metric);
std::optional<std::int64_t> metric_kib(const CgroupSample& sample, Metric metric);
std::optional<std::int64_t> metric_value(const MachineMemory& memory, Metric metric);

// All of kMetrics: of a process or a group, as a tick saw them, or means over a bucket.
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

// Of a sample with that source.
bool is_exact(Metric metric, Source source);

}  // namespace memoir
