#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>

#include "analysis/metric.h"
#include "base/text.h"
#include "query/subject_word.h"
#include "query/trend.h"

namespace memoir::query {

namespace {

struct MachineMetric {
  const char* name;
  const char* title;
  std::optional<std::int64_t> (*value)(const MachineMemory&);
};

template <MachineField field>
std::optional<std::int64_t> get(const MachineMemory& memory) {
  return memory.get(field);
}

using enum MachineField;
constexpr std::array kMachineMetrics{
    MachineMetric{"used", "memory in use", used_kib},    MachineMetric{"available", "MemAvailable", get<mem_available>},
    MachineMetric{"free", "MemFree", get<mem_free>},     MachineMetric{"cached", "Cached", get<cached>},
    MachineMetric{"anon", "AnonPages", get<anon_pages>}, MachineMetric{"swap", "swap in use", swap_used_kib},
    MachineMetric{"shmem", "Shmem", get<shmem>},         MachineMetric{"slab", "Slab", get<slab>},
    MachineMetric{"dirty", "Dirty", get<dirty>},
};

template <typename Names>
Error wrong_metric(const std::string& by, const std::string& of, const Names& names) {
  return malformed(fmt::format("--by {} is not of {}: choose one of {}", by, of, fmt::join(names, ", ")));
}

Result<Series> machine_series(const Context& context, Range range) {
  const std::string by = context.options.by.value_or(machine_metrics().front());
  const auto* const metric = std::ranges::find(kMachineMetrics, by, &MachineMetric::name);
  if (metric == kMachineMetrics.end()) return wrong_metric(by, "the machine", machine_metrics());
  Series series{by, metric->title, {}, 0, 0, 0, 0};
  const Status read = context.reader.machine_steps(range, [&](const MachineStep& step) {
    series.steps.push_back({step.at_ms, step.until_ms, metric->value(*step.memory)});
  });
  if (!read) return read.error();
  return series;
}

std::string upper(std::string_view metric) {
  if (metric == "swap_pss") return "SwapPss";
  if (metric == "hwm") return "high-water mark";
  if (metric == "anon" || metric == "swap") return std::string(metric);
  std::string text(metric);
  for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string title_of(const Subject& subject, Metric metric, const std::vector<StoredProcess>& members) {
  std::string of = subject.category ? "category " + *subject.category : subject.name;
  if (subject.kind == Subject::Kind::process && !members.empty()) {
    const ProcessInfo& info = members.back().info;
    of = fmt::format("process {} ({})", info.key.pid, info.comm);
  }
  return fmt::format("{} of {}", upper(to_string(metric)), to_printable(to_utf8(of)));
}

// PSS and USS are known exactly, or RSS stands in for them; the others status tells everyone.
bool needs_rollup(Metric metric) {
  return metric == Metric::pss || metric == Metric::uss || metric == Metric::swap_pss;
}

void account(const ProcessStep& step, bool known, Metric metric, Series& series) {
  const std::int64_t length = step.until_ms - step.at_ms;
  const Source source = step.sample->source;
  if (step.sample->state == 'Z') return;
  series.member_ms += length;
  if (!known) {
    series.unknown_ms += length;
  } else if (needs_rollup(metric) && source != Source::exact && source != Source::held) {
    series.inexact_ms += length;
  }
}

Result<Series> process_series(const Context& context, Subject asked, Range range, Metric metric) {
  const Result<std::vector<StoredProcess>> processes = context.reader.processes(range);
  if (!processes) return processes.error();
  const Result<Subject> subject = choose_subject(context, std::move(asked), *processes, range);
  if (!subject) return subject.error();
  const Result<std::vector<StoredProcess>> members = members_of(*subject, *processes, context.options.zone);
  if (!members) return members.error();
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> gone;
  for (const StoredProcess& member : *members) gone[member.id] = member.gone_ms;

  Series series{std::string(to_string(metric)), title_of(*subject, metric, *members), {}, 0, 0, 0, 0};
  series.members = static_cast<std::int64_t>(members->size());
  GroupSum sum;
  const Status read = context.reader.process_steps(range, [&](const ProcessStep& step) {
    const auto member = gone.find(step.process_id);
    if (member == gone.end()) return;
    const auto value = metric_kib(step.sample->memory, metric);
    account(step, value.has_value(), metric, series);
    sum.add(step.process_id, {step.at_ms, step.until_ms, value}, member->second == step.until_ms);
  });
  if (!read) return read.error();
  for (const GroupStep& step : sum.steps()) series.steps.push_back(step.step);
  return series;
}

}  // namespace

const std::vector<std::string>& machine_metrics() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(std::size(kMachineMetrics));
    for (const MachineMetric& metric : kMachineMetrics) all.emplace_back(metric.name);
    return all;
  }();
  return names;
}

const std::vector<std::string>& process_metrics() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(std::size(kMetrics));
    for (const Metric metric : kMetrics) all.emplace_back(to_string(metric));
    return all;
  }();
  return names;
}

Result<Series> load_series(const Context& context, Subject subject, Range range) {
  if (subject.kind == Subject::Kind::machine) return machine_series(context, range);
  const std::string by = context.options.by.value_or(process_metrics().front());
  const std::optional<Metric> metric = parse_metric(by);
  if (!metric) return wrong_metric(by, "a process", process_metrics());
  if (*metric == Metric::hwm && subject.kind != Subject::Kind::process) {
    return malformed("--by hwm is of one process: marks that were reached at different times have no sum");
  }
  return process_series(context, std::move(subject), range, *metric);
}

}  // namespace memoir::query
