#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>
#include <unordered_set>

#include "analysis/metric.h"
#include "base/text.h"
#include "query/answer/process_columns.h"
#include "query/answer/subject_word.h"
#include "query/answer/tier_steps.h"
#include "query/commands/trend/trend.h"

namespace memoir::query {

namespace {

struct NamedMetric {
  const char* name;
  const char* title;
  MachineMetric metric;
};

template <MachineField field>
std::optional<std::int64_t> get(const MachineMemory& memory) {
  return memory.get(field);
}

using enum MachineField;
constexpr std::array kMachineMetrics{
    NamedMetric{"used", "memory in use", {"used_kib", used_kib}},
    NamedMetric{"available", "MemAvailable", {"mem_available_kib", get<mem_available>}},
    NamedMetric{"free", "MemFree", {"mem_free_kib", get<mem_free>}},
    NamedMetric{"cached", "Cached", {"cached_kib", get<cached>}},
    NamedMetric{"anon", "AnonPages", {"anon_pages_kib", get<anon_pages>}},
    NamedMetric{"swap", "swap in use", {"swap_used_kib", swap_used_kib}},
    NamedMetric{"shmem", "Shmem", {"shmem_kib", get<shmem>}},
    NamedMetric{"slab", "Slab", {"slab_kib", get<slab>}},
    NamedMetric{"dirty", "Dirty", {"dirty_kib", get<dirty>}},
};

template <typename Names>
Error wrong_metric(const std::string& by, const std::string& of, const Names& names) {
  return malformed(fmt::format("--by {} is not of {}: choose one of {}", by, of, fmt::join(names, ", ")));
}

Result<Series> machine_series(const Context& context, const TrendSource& source) {
  const std::string by = context.options.by.value_or(machine_metrics().front());
  const auto* const metric = std::ranges::find(kMachineMetrics, by, &NamedMetric::name);
  if (metric == kMachineMetrics.end()) return wrong_metric(by, "the machine", machine_metrics());
  Series series{by, metric->title, {}};
  const Status read = visit_machine(context.reader, source.tier, source.range, {metric->metric},
                                    [&](std::size_t, const Step& step) { series.steps.push_back(step); });
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
  if (subject.name.starts_with("identity") && !members.empty()) of = identity_title(members.back().info);
  return fmt::format("{} of {}", upper(to_string(metric)), to_printable(to_utf8(of)));
}

void account(const ProcessMetricStep& from, Metric metric, Series& series) {
  const std::int64_t length = from.step.until_ms - from.step.at_ms;
  if (from.zombie) return;
  series.member_ms += length;
  if (!from.step.value) {
    series.unknown_ms += length;
  } else if (!is_exact(metric, from.source)) {
    series.inexact_ms += length;
  }
}

Status sum_ticks(Reader& reader, const TrendSource& source, const std::vector<StoredProcess>& members, Metric metric,
                 Series& series) {
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> gone;
  for (const StoredProcess& member : members) gone[member.id] = member.gone_ms;
  GroupSum sum;
  const auto only = members.size() == 1 ? std::optional(members.front().id) : std::nullopt;
  const Status read =
      visit_processes(reader, source.tier, source.range, metric, only, [&](const ProcessMetricStep& from) {
        const auto member = gone.find(from.process_id);
        if (member == gone.end()) return;
        account(from, metric, series);
        sum.add(from.process_id, from.step, member->second == from.step.until_ms);
      });
  if (!read) return read.error();
  for (const GroupStep& step : sum.steps()) series.steps.push_back(step.step);
  return Done{};
}

// A group that has rollups of its own; of a cgroup those below it have too, and are summed.
struct Whole {
  MarkSubject kind = MarkSubject::category;
  std::string name;
};

std::optional<Whole> whole_of(const Subject& subject) {
  if (subject.category) return Whole{MarkSubject::category, *subject.category};
  constexpr std::string_view key = "cgroup";
  const std::string& text = subject.name;
  if (!text.starts_with(key) || text.size() <= key.size()) return std::nullopt;
  if (text[key.size()] != ':' && text[key.size()] != '=') return std::nullopt;
  return Whole{MarkSubject::cgroup, text.substr(key.size() + 1)};
}

// False: it has none, or none in this range.
Result<bool> read_whole(Reader& reader, const TrendSource& source, const Subject& subject, Metric metric,
                        Series& series) {
  const std::optional<Whole> whole = whole_of(subject);
  if (!whole) return false;
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(whole->kind));
  std::vector<std::int64_t> parts;
  for (const auto& [id, name] : names) {
    if (whole->kind == MarkSubject::cgroup ? is_in_cgroup(name, whole->name) : name == whole->name) parts.push_back(id);
  }
  if (parts.empty()) return false;
  BucketSum::Recorded recorded = TRY(recorded_time(reader, source.tier, source.range));
  BucketSum sum(bucket_ms(source.tier), std::move(recorded));
  for (const std::int64_t part : parts) {
    const Status read = visit_buckets(reader, source.tier, whole->kind, part, source.range, metric,
                                      [&](const RollupBucket&, const Step& step) {
                                        series.exact.add(step);
                                        parts.size() == 1 ? series.steps.push_back(step) : sum.add(part, step);
                                      });
    if (!read) return read.error();
  }
  if (parts.size() > 1) series.steps = sum.steps();
  return !series.steps.empty();
}

// The processes that the subject may be: of a group in rollups those alone that have some.
Result<RolledProcesses> candidates_of(Reader& reader, const Subject& subject, const TrendSource& source,
                                      Metric metric) {
  const bool process = subject.kind == Subject::Kind::process;
  if (source.tier != Tier::raw && !process) return read_rolled_processes(reader, source.tier, source.range, metric);
  std::vector<StoredProcess> processes =
      TRY(process ? reader.processes_of_pid(source.range, subject.pid) : reader.processes(source.range));
  return RolledProcesses{std::move(processes), {}};
}

Status sum_rollups(Reader& reader, const TrendSource& source, const std::vector<StoredProcess>& members, Metric metric,
                   const RolledProcesses& rolled, Series& series) {
  BucketSum::Recorded recorded = TRY(recorded_time(reader, source.tier, source.range));
  BucketSum sum(bucket_ms(source.tier), std::move(recorded));
  std::unordered_set<std::int64_t> ids;
  for (const StoredProcess& member : members) ids.insert(member.id);
  const auto add = [&](std::int64_t id, const Step& step) {
    series.exact.add(step);
    sum.add(id, step);
  };
  for (const auto& [id, step] : rolled.steps) {
    if (ids.contains(id)) add(id, step);
  }
  if (rolled.steps.empty()) {
    for (const std::int64_t id : ids) {
      const Status read = visit_processes(reader, source.tier, source.range, metric, id,
                                          [&](const ProcessMetricStep& from) { add(id, from.step); });
      if (!read) return read.error();
    }
  }
  series.steps = sum.steps();
  return Done{};
}

Result<Series> process_series(const Context& context, Subject asked, const TrendSource& source, Metric metric) {
  Reader& reader = context.reader;
  std::optional<Result<RolledProcesses>> candidates;
  if (asked.kind == Subject::Kind::word) {
    candidates = candidates_of(reader, asked, source, metric);
    if (!*candidates) return candidates->error();
    asked = TRY(choose_subject(context, std::move(asked), (*candidates)->processes, source.range));
  }
  const Subject& subject = asked;
  Series series{std::string(to_string(metric)), title_of(subject, metric, {}), {}};
  if (source.tier != Tier::raw) {
    const bool whole = TRY(read_whole(reader, source, subject, metric, series));
    if (whole) return series;
  }
  if (!candidates) candidates = candidates_of(reader, subject, source, metric);
  if (!*candidates) return candidates->error();
  const RolledProcesses& found = **candidates;
  const std::vector<StoredProcess> members = TRY(members_of(subject, found.processes, context.options.zone));
  series.title = title_of(subject, metric, members);
  series.members = static_cast<std::int64_t>(members.size());
  TRY(source.tier == Tier::raw ? sum_ticks(reader, source, members, metric, series)
                               : sum_rollups(reader, source, members, metric, found, series));
  return series;
}

}  // namespace

const std::vector<std::string>& machine_metrics() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(std::size(kMachineMetrics));
    for (const NamedMetric& metric : kMachineMetrics) all.emplace_back(metric.name);
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

Result<Series> load_series(const Context& context, Subject subject, const TrendSource& source) {
  if (subject.kind == Subject::Kind::machine) return machine_series(context, source);
  const std::string by = context.options.by.value_or(process_metrics().front());
  const std::optional<Metric> metric = parse_metric(by);
  if (!metric) return wrong_metric(by, "a process", process_metrics());
  if (*metric == Metric::hwm && subject.kind != Subject::Kind::process) {
    return malformed("--by hwm is of one process: marks that were reached at different times have no sum");
  }
  if (*metric == Metric::hwm && source.tier != Tier::raw) {
    return malformed("--by hwm is of ticks: rollups do not hold the high-water mark (memoir peaks tells it)");
  }
  return process_series(context, std::move(subject), source, *metric);
}

}  // namespace memoir::query
