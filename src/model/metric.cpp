#include "model/metric.h"

#include "model/memory_breakdown.h"

namespace memoir {

namespace {

constexpr SubjectKinds kOfProcesses{SubjectKind::process, SubjectKind::category, SubjectKind::identity,
                                    SubjectKind::cgroup};
constexpr SubjectKinds kOfMachine{SubjectKind::machine};

template <ProcessField field>
std::optional<std::int64_t> of_field(const ProcessMemory& memory) {
  return memory.get(field);
}

constexpr std::array kPss{ProcessField::pss};
constexpr std::array kRss{ProcessField::rss, ProcessField::vm_rss};
constexpr std::array kUss{ProcessField::private_clean, ProcessField::private_dirty};
constexpr std::array kAnon{ProcessField::anonymous, ProcessField::rss_anon};
constexpr std::array kSwap{ProcessField::swap, ProcessField::vm_swap};
constexpr std::array kSwapPss{ProcessField::swap_pss};
constexpr std::array kHighWater{ProcessField::vm_hwm, ProcessField::vm_rss, ProcessField::rss};

constexpr std::array kOwn{
    MetricInfo{.name = "pss",
               .title = "PSS",
               .column = "pss_kib",
               .kinds = kOfProcesses,
               .rolled_up = true,
               .marked = kOfProcesses,
               .mark = 3,
               .of_smaps = true,
               .fields = kPss,
               .of_process = of_field<ProcessField::pss>,
               .of_category = &CategorySample::pss_kib},
    MetricInfo{.name = "rss",
               .title = "RSS",
               .column = "rss_kib",
               .kinds = kOfProcesses,
               .rolled_up = true,
               .marked = {SubjectKind::category, SubjectKind::identity, SubjectKind::cgroup},
               .mark = 4,
               .fields = kRss,
               .of_process = rss_kib,
               .of_category = &CategorySample::rss_kib},
    MetricInfo{.name = "uss",
               .title = "USS",
               .column = "uss_kib",
               .kinds = kOfProcesses,
               .rolled_up = true,
               .marked = kOfProcesses,
               .mark = 5,
               .of_smaps = true,
               .fields = kUss,
               .of_process = uss_kib,
               .of_category = &CategorySample::uss_kib},
    MetricInfo{.name = "anon",
               .title = "anon",
               .column = "anon_kib",
               .kinds = {SubjectKind::process, SubjectKind::identity, SubjectKind::cgroup},
               .rolled_up = true,
               .mark = 9,
               .fields = kAnon,
               .of_process = anon_kib},
    MetricInfo{.name = "swap",
               .title = "swap",
               .column = "swap_kib",
               .kinds = kOfProcesses,
               .rolled_up = true,
               .marked = kOfProcesses,
               .mark = 2,
               .fields = kSwap,
               .of_process = swap_kib,
               .of_category = &CategorySample::swap_kib},
    MetricInfo{.name = "swap_pss",
               .title = "SwapPss",
               .column = "swap_pss_kib",
               .kinds = kOfProcesses,
               .rolled_up = true,
               .of_smaps = true,
               .fields = kSwapPss,
               .of_process = of_field<ProcessField::swap_pss>,
               .of_category = &CategorySample::swap_pss_kib},
    MetricInfo{.name = "hwm",
               .title = "high-water mark",
               .column = "hwm_kib",
               .kinds = {SubjectKind::process, SubjectKind::identity},
               .marked = {SubjectKind::process, SubjectKind::identity},
               .mark = 6,
               .adds_up = false,
               .fields = kHighWater,
               .of_process = high_water_kib},
    MetricInfo{.name = "usage",
               .title = "usage",
               .column = "usage_kib",
               .marked = {SubjectKind::cgroup},
               .mark = 7,
               .counted = true},
    MetricInfo{.name = "usage_anon",
               .title = "anonymous usage",
               .column = "usage_anon_kib",
               .marked = {SubjectKind::cgroup},
               .mark = 8,
               .counted = true},
    MetricInfo{.name = "usage_swap",
               .title = "swap usage",
               .column = "usage_swap_kib",
               .marked = {SubjectKind::cgroup},
               .mark = 10,
               .counted = true},
    MetricInfo{.name = "used",
               .title = "memory in use",
               .column = "used_kib",
               .kinds = kOfMachine,
               .rolled_up = true,
               .marked = kOfMachine,
               .mark = 0},
    MetricInfo{.name = "swap",
               .title = "swap in use",
               .column = "swap_used_kib",
               .kinds = kOfMachine,
               .rolled_up = true,
               .marked = kOfMachine,
               .mark = 2},
    MetricInfo{.name = kUnaccounted,
               .title = "memory that nothing accounts for",
               .column = "unaccounted_kib",
               .kinds = kOfMachine,
               .rolled_up = true},
};
static_assert(kOwn.size() == static_cast<std::size_t>(Metric::fields));

// Fields of the machine that people ask for by a name.
struct NamedField {
  MachineField field;
  std::string_view name;
};
constexpr std::array kNamed{NamedField{MachineField::mem_available, "available"},
                            NamedField{MachineField::mem_free, "free"},
                            NamedField{MachineField::cached, "cached"},
                            NamedField{MachineField::anon_pages, "anon"},
                            NamedField{MachineField::shmem, "shmem"},
                            NamedField{MachineField::slab, "slab"},
                            NamedField{MachineField::dirty, "dirty"}};

// Counters of which the last value of a bucket tells what happened since another's.
constexpr std::array kCounters{MachineField::oom_kill,       MachineField::pswpin,         MachineField::pswpout,
                               MachineField::pgmajfault,     MachineField::psi_some_total, MachineField::psi_full_total,
                               MachineField::psi_some_avg10, MachineField::psi_full_avg10};

constexpr MetricInfo info_of(MachineField field) {
  const FieldName& of = kMachineFields[static_cast<std::size_t>(field)];
  const auto* const named = std::ranges::find(kNamed, field, &NamedField::field);
  MetricInfo info{
      .name = named == kNamed.end() ? "" : named->name, .title = of.key, .column = of.column, .kinds = kOfMachine};
  info.rolled_up = std::ranges::find(kMachineSizes, field) != kMachineSizes.end() ||
                   std::ranges::find(kCounters, field) != kCounters.end();
  if (field != MachineField::mem_available) return info;
  info.marked = kOfMachine;
  info.mark = 1;
  return info;
}

constexpr std::size_t kCount = kOwn.size() + MachineMemory::kCount;

constexpr auto kInfos = [] {
  std::array<MetricInfo, kCount> infos{};
  for (std::size_t i = 0; i < kCount; ++i)
    infos[i] = i < kOwn.size() ? kOwn[i] : info_of(static_cast<MachineField>(i - kOwn.size()));
  return infos;
}();

template <typename Takes>
std::vector<Metric> those(Takes&& takes) {
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (takes(kInfos[i])) metrics.push_back(static_cast<Metric>(i));
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

std::vector<Metric> metrics_of(std::span<const MachineField> fields) {
  std::vector<Metric> metrics(fields.size());
  std::ranges::transform(fields, metrics.begin(), [](MachineField field) { return metric_of(field); });
  return metrics;
}

}  // namespace

std::optional<MachineField> machine_field(Metric metric) {
  if (metric < Metric::fields) return std::nullopt;
  return static_cast<MachineField>(static_cast<std::size_t>(metric) - kOwn.size());
}

const MetricInfo& info_of(Metric metric) {
  return kInfos.at(static_cast<std::size_t>(metric));
}

std::string_view to_string(Metric metric) {
  return info_of(metric).name;
}

std::string_view metric_title(Metric metric) {
  return info_of(metric).title;
}

std::optional<Metric> parse_metric(std::string_view name, SubjectKind kind) {
  const std::vector<Metric>& metrics = metrics_of(kind);
  const auto found = std::ranges::find(metrics, name, [](Metric metric) { return to_string(metric); });
  return found == metrics.end() ? std::nullopt : std::optional(*found);
}

const std::vector<Metric>& metrics_of(SubjectKind kind) {
  static const std::vector<Metric> of_machine{Metric::used,
                                              metric_of(MachineField::mem_available),
                                              metric_of(MachineField::mem_free),
                                              metric_of(MachineField::cached),
                                              metric_of(MachineField::anon_pages),
                                              Metric::swap_used,
                                              metric_of(MachineField::shmem),
                                              metric_of(MachineField::slab),
                                              metric_of(MachineField::dirty),
                                              Metric::unaccounted};
  static const std::vector<Metric> of_processes(kMetrics.begin(), kMetrics.end());
  return kind == SubjectKind::machine ? of_machine : of_processes;
}

const std::vector<Metric>& machine_size_metrics() {
  static const std::vector<Metric> metrics = metrics_of(kMachineSizes);
  return metrics;
}

const std::vector<Metric>& rolled_up_machine_metrics() {
  static const std::vector<Metric> metrics = [] {
    std::vector<Metric> all = machine_size_metrics();
    const std::vector<Metric> counters = metrics_of(kCounters);
    all.insert(all.end(), counters.begin(), counters.end());
    all.insert(all.end(), {Metric::used, Metric::swap_used, Metric::unaccounted});
    return all;
  }();
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
  const auto value = info_of(metric).of_process;
  return value == nullptr ? std::nullopt : value(memory);
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

bool is_exact(Metric metric, Source source) {
  return !info_of(metric).of_smaps || is_known(source);
}

}  // namespace memoir
