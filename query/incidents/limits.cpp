// Incidents at limits of cgroups and tmpfs mounts without a kill, from the recorder's events.

#include "store/limits.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "query/incidents/makers.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

constexpr double kMinWaitedPercent = 0.05;

// An episode without a recorded end lasted up to the end of its run.
std::int64_t end_of(const Context& context, const LimitEpisode& episode) {
  if (episode.to_ms) return *episode.to_ms;
  const auto run = std::ranges::find(context.runs, episode.run_id, &StoredRun::id);
  const bool goes_on = run == context.runs.end() || std::next(run) == context.runs.end();
  const std::int64_t last_ms = goes_on ? context.file.last_tick_ms : run->last_tick_ms.value_or(episode.at_ms);
  return std::max(last_ms, episode.at_ms);
}

// Joins episodes that a restart of the recorder split. Episodes are in the order of their starts.
std::vector<LimitEpisode> joined(const Context& context, std::vector<LimitEpisode> episodes) {
  std::vector<LimitEpisode> list;
  for (LimitEpisode& episode : episodes) {
    episode.to_ms = end_of(context, episode);
    const auto before = std::find_if(list.rbegin(), list.rend(), [&episode](const LimitEpisode& of) {
      return of.kind == episode.kind && of.subject == episode.subject;
    });
    if (before == list.rend() || episode.from_ms - *before->to_ms > kSameIncidentMs) {
      list.push_back(std::move(episode));
      continue;
    }
    before->to_ms = std::max(*before->to_ms, *episode.to_ms);
    before->times += episode.times;
    if (episode.waited_us) before->waited_us = before->waited_us.value_or(0) + *episode.waited_us;
    before->used_kib = std::max(before->used_kib, episode.used_kib);
    before->limit_kib = episode.limit_kib;
    before->cache_kib = episode.cache_kib;
  }
  return list;
}

void describe_cgroup(const LimitEpisode& of, const ContainerNames& containers, Units units, IncidentEntry& entry) {
  const bool at_max = of.kind == LimitKind::limit;
  entry.kind = at_max ? IncidentKind::limit : IncidentKind::throttled;
  entry.cgroup = of.subject;
  entry.place = place_name(of.subject, containers);
  const std::int64_t length_ms = entry.to_ms - entry.from_ms;
  entry.text = fmt::format(
      "{} reached its {}{} {} in {}", entry.place, of.limit_kib ? format_size(*of.limit_kib, units) + " " : "",
      at_max ? "limit" : "memory.high", format_count(of.times, "time", "times"), format_span(length_ms));
  const double waited =
      length_ms <= 0
          ? 0
          : std::min(100.0, static_cast<double>(of.waited_us.value_or(0)) / 10 / static_cast<double>(length_ms));
  if (waited >= kMinWaitedPercent)
    entry.text += fmt::format("; at least one process waited {} of that time", format_percent(waited));
  if (of.cache_kib) entry.text += fmt::format("; page cache {}", format_size(*of.cache_kib, units));
}

void describe_tmpfs(const LimitEpisode& of, Units units, IncidentEntry& entry) {
  entry.kind = IncidentKind::tmpfs;
  entry.tmpfs = of.subject;
  entry.place = to_printable(of.subject);
  entry.text = fmt::format("The tmpfs {} was full: {} of {}", entry.place, format_size(of.used_kib.value_or(0), units),
                           format_size(of.limit_kib.value_or(0), units));
}

bool has_kill(const std::vector<IncidentEntry>& incidents, const LimitEpisode& episode) {
  return std::ranges::any_of(incidents, [&](const IncidentEntry& kill) {
    return kill.kind == IncidentKind::oom_kill && kill.cgroup == episode.subject &&
           kill.from_ms <= *episode.to_ms + kSameIncidentMs && kill.to_ms >= episode.from_ms - kSameIncidentMs;
  });
}

}  // namespace

Status add_limit_incidents(const Context& context, Range range, const ContainerNames& containers,
                           std::vector<IncidentEntry>& incidents) {
  const Range wide{range.from_ms - kSameIncidentMs, range.to_ms};
  for (const LimitEpisode& of : joined(context, TRY(load_limit_episodes(context.reader, wide)))) {
    if (*of.to_ms < range.from_ms || has_kill(incidents, of)) continue;
    IncidentEntry entry{.at_ms = of.at_ms, .from_ms = of.from_ms, .to_ms = *of.to_ms};
    entry.limit_kib = of.limit_kib;
    entry.usage_kib = of.used_kib;
    if (of.kind == LimitKind::tmpfs_full) {
      describe_tmpfs(of, context.options.units, entry);
    } else {
      describe_cgroup(of, containers, context.options.units, entry);
    }
    incidents.push_back(std::move(entry));
  }
  return Done{};
}

}  // namespace memoir::query
