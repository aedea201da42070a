#include <algorithm>
#include <cstdlib>
#include <map>

#include "model/cgroup.h"
#include "query/args/times.h"
#include "query/commands/incident/incident.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kPastMs = 30 * kDayMs;
constexpr double kNearPercent = 90;  // usage of a cgroup, in percent of its limit

const CgroupSample* find_cgroup(const State& state, std::string_view path) {
  if (!state.cgroups) return nullptr;
  const auto found = std::ranges::lower_bound(*state.cgroups, path, {}, &CgroupSample::path);
  return found != state.cgroups->end() && found->path == path ? &*found : nullptr;
}

std::optional<CgroupSample> sample_of(const State& state, const std::string& path) {
  const CgroupSample* const sample = find_cgroup(state, path);
  return sample == nullptr ? std::nullopt : std::optional(*sample);
}

// Returns the innermost cgroup at or above `path` that was near its limit; empty if none was. Used without a kernel
// log, which would name the cgroup.
std::string cgroup_near_limit(const State& state, std::string_view path) {
  for (; !path.empty(); path = cgroup_above(path)) {
    const CgroupSample* const sample = find_cgroup(state, path);
    if (sample != nullptr && share_percent(sample->current_kib, sample->max_kib).value_or(0) >= kNearPercent)
      return std::string(path);
  }
  return {};
}

// Returns the cgroup of the incident; empty for the machine, or if it is unknown.
std::string scope_cgroup(const Incident& incident) {
  const std::optional<IncidentEntry>& entry = incident.instant.entry;
  if (!entry || entry->kind == IncidentKind::user_kill) return {};
  if (entry->scope) return entry->scope == OomScope::cgroup ? entry->cgroup : "";
  return entry->is_kill() ? cgroup_near_limit(incident.at, entry->cgroup) : entry->cgroup;
}

Result<std::vector<Interval>> usage_of(Reader& reader, const Incident& incident, const std::string& path) {
  const Tier tier = incident.before.tier();
  if (tier != Tier::raw) return std::vector<Interval>();  // rollups lack the kernel's count
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, SubjectKind::cgroup));
  for (const auto& [id, name] : names) {
    if (name != path) continue;
    return TRY(
        load_series(reader, {tier, SubjectKind::cgroup, id, incident.range, {Metric::usage}, true}))[Metric::usage];
  }
  return std::vector<Interval>();
}

// Returns the rise from the lowest usage up to `at_ms`. It starts when the usage was last within a tenth of the rise
// above the lowest.
std::optional<UsageGrowth> find_growth(const std::vector<Interval>& usage, std::int64_t at_ms, std::int64_t at_kib) {
  std::optional<std::int64_t> lowest;
  for (const Interval& of : usage) {
    if (of.from_ms < at_ms && of.min && of.covered_ms > 0) lowest = std::min(lowest.value_or(*of.min), *of.min);
  }
  if (!lowest || at_kib <= *lowest) return std::nullopt;
  const std::int64_t near_kib = *lowest + (at_kib - *lowest) / 10;
  const Interval* start = nullptr;
  for (const Interval& of : usage) {
    if (of.from_ms < at_ms && of.last && *of.last <= near_kib) start = &of;
  }
  if (start == nullptr) return std::nullopt;
  // The usage was constant during the interval, so the rise starts at its end.
  const std::int64_t from_ms = std::min(start->until_ms, at_ms - 1);
  return UsageGrowth{from_ms, at_ms, *start->last, at_kib};
}

using KibByName = std::map<std::string, std::int64_t>;

// Returns the anonymous memory of the cgroup's processes by identity.
KibByName anon_of(const State& state, const std::string& cgroup) {
  KibByName sums;
  for (const ProcessUse& process : state.processes) {
    const auto kib = process.kib[Metric::anon];
    if (kib && is_in_cgroup(process.process->info.cgroup, cgroup))
      sums[group_key(*process.process, "identity")] += *kib;
  }
  return sums;
}

// Usage of the cgroup at one time; the parts add up to it.
struct CgroupUsage {
  std::optional<std::int64_t> total_kib;
  std::map<std::string, std::int64_t> kib;  // memory of each identity and named part
};

constexpr const char* kPageCache = "page_cache";
constexpr const char* kShmem = "shmem";
constexpr const char* kKernel = "kernel";
constexpr const char* kRemainder = "remainder";

CgroupUsage usage_at(const std::optional<CgroupSample>& sample, const State& state, const std::string& cgroup) {
  CgroupUsage usage;
  if (!sample) return usage;
  usage.total_kib = sample->current_kib;
  usage.kib = anon_of(state, cgroup);
  const auto add = [&](const char* name, std::optional<std::int64_t> kib) {
    if (kib) usage.kib[name] = *kib;
  };
  add(kPageCache, sample->file_kib);
  add(kShmem, sample->shmem_kib);
  add(kKernel, sample->kernel_kib);
  std::int64_t known = 0;
  for (const auto& [name, kib] : usage.kib) known += kib;
  usage.kib[kRemainder] = sample->current_kib - known;
  return usage;
}

std::string part_title(const std::string& name) {
  return name == kPageCache   ? "page cache"
         : name == kShmem     ? "tmpfs and shared memory"
         : name == kKernel    ? "kernel memory"
         : name == kRemainder ? "remainder"
                              : name;
}

std::vector<Part> parts_of(const Scope& scope, const Incident& incident) {
  const std::string& cgroup = scope.cgroup;
  const CgroupUsage before = usage_at(scope.before, incident.before, cgroup);
  const CgroupUsage at = usage_at(scope.at, incident.at, cgroup);
  const CgroupUsage after = incident.after ? usage_at(scope.after, *incident.after, cgroup) : CgroupUsage();
  std::map<std::string, Part> parts;
  const auto add = [&](const CgroupUsage& usage, std::optional<std::int64_t> Part::*member) {
    for (const auto& [name, kib] : usage.kib) {
      Part& part = parts[name];
      part.name = name;
      part.title = part_title(name);
      part.of_processes = name != kRemainder && part.title == name;
      part.in_limit = true;
      part.*member = kib;
    }
  };
  add(before, &Part::before_kib);
  add(at, &Part::at_kib);
  add(after, &Part::after_kib);
  std::vector<Part> list;
  list.reserve(parts.size());
  for (auto& [name, part] : parts) list.push_back(std::move(part));
  std::ranges::for_each(list, finish);
  std::ranges::stable_sort(list, std::greater(), [](const Part& part) { return std::abs(part.change_kib); });
  Part total{.name = "cgroup",
             .title = scope.place,
             .in_limit = true,
             .before_kib = before.total_kib,
             .at_kib = scope.usage_kib,
             .after_kib = after.total_kib};
  finish(total);
  if (scope.usage_kib != at.total_kib) {
    Part later{.name = "after_last_tick", .title = "after the last tick", .in_limit = true};
    later.at_kib = difference(scope.usage_kib, at.total_kib);
    finish(later);
    list.push_back(std::move(later));
  }
  list.insert(list.begin(), std::move(total));
  return list;
}

}  // namespace

Result<std::optional<Scope>> load_scope(const Context& context, const Incident& incident) {
  Scope scope{.cgroup = scope_cgroup(incident), .place = {}};
  if (scope.cgroup.empty() || scope.cgroup == "/") return std::optional<Scope>();
  const IncidentTime& instant = incident.instant;
  scope.place = place_name(scope.cgroup, incident.containers);
  scope.before = sample_of(incident.before, scope.cgroup);
  scope.at = sample_of(incident.at, scope.cgroup);
  if (incident.after) scope.after = sample_of(*incident.after, scope.cgroup);
  const bool throttled = instant.entry->kind == IncidentKind::throttled;
  if (scope.at) {
    scope.limit_kib = throttled ? scope.at->high_kib : scope.at->max_kib;
    scope.usage_kib = scope.at->current_kib;
  }
  if (instant.victim && instant.victim->detail) {
    const OomDetail& detail = *instant.victim->detail;
    if (detail.limit_kib) scope.limit_kib = detail.limit_kib;
    if (detail.usage_kib) scope.usage_kib = detail.usage_kib;
  }
  scope.usage = TRY(usage_of(context.reader, incident, scope.cgroup));
  if (scope.usage_kib) scope.growth = find_growth(scope.usage, instant.at_ms, *scope.usage_kib);
  // Without the usage of the cgroups before the incident, which only ticks have, the changes of the parts are unknown.
  if (scope.at && incident.before.cgroups) scope.parts = parts_of(scope, incident);
  for (const IncidentEntry& kill :
       TRY(load_kill_incidents(context, {instant.at_ms - kPastMs, instant.entry->from_ms - 1}))) {
    if (kill.cgroup == scope.cgroup && kill.to_ms < instant.entry->from_ms) scope.kills_before.push_back(kill.at_ms);
  }
  return std::optional(std::move(scope));
}

}  // namespace memoir::query
