// Finds what needs attention, which the first lines of the summary show.

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/incidents/incidents.h"
#include "query/render/shell_text.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"
#include "store/near_limits.h"

namespace memoir::query {
namespace {

// Kinds of concerns, in the order of the section.
constexpr std::array kConcernKinds{"oom-kill",  "killer",   "limit",      "throttled", "tmpfs-full",
                                   "swap-full", "pressure", "near-limit", "tmpfs",     "incidents",
                                   "leak",      "restarts", "unusual",    "recorder"};
constexpr std::size_t kMaxIncidents = 10;
constexpr std::int64_t kNearCgroupPercent = 90;
constexpr std::int64_t kNearTmpfsPercent = 80;
constexpr std::int64_t kManyRestarts = 3;  // restarts of a service that ran for at least ten minutes each time
constexpr std::int64_t kLongGapMs = 10 * 60'000;

std::string at_option(std::int64_t ms, Zone zone) {
  return fmt::format("--at '{}'", format_time(ms, zone));
}

bool needs_attention(const IncidentEntry& entry) {
  return entry.kind != IncidentKind::growth;  // add_unusual() reports unusual levels
}

// Adds the entries of `memoir incidents`.
void add_incidents(const std::vector<IncidentEntry>& incidents, const Options& options, DaySummary& summary) {
  const Stamp stamp{options.zone, summary.is_week()};
  std::size_t shown = 0;
  std::size_t all = 0;
  for (const IncidentEntry& entry : incidents) {
    if (!needs_attention(entry) || ++all > kMaxIncidents) continue;
    ++shown;
    summary.attention.push_back(
        {.kind = std::string(to_string(entry.kind)),
         .subject = !entry.cgroup.empty()  ? entry.cgroup
                    : !entry.tmpfs.empty() ? entry.tmpfs
                                           : entry.place,
         .text = fmt::format("{}, {} {}", entry.text, entry.is_kill() ? "at" : "from",
                             format_minute(entry.is_kill() ? entry.at_ms : entry.from_ms, stamp)),
         .command = command_of(entry),
         .at_ms = entry.at_ms,
         .value_kib = entry.usage_kib,
         .limit_kib = entry.limit_kib,
         .tone = entry.is_kill() ? Tone::problem : Tone::warning});
  }
  if (shown == all) return;
  summary.attention.push_back(
      {.kind = "incidents",
       .text = fmt::format("{} more: memoir incidents",
                           format_count(static_cast<std::int64_t>(all - shown), "incident", "incidents")),
       .command = "memoir incidents --day " + format_date(summary.day.end_ms - 1, options.zone)});
}

// Adds cgroups and mounts that were near their limit, if they have no incident.
Status add_near_limits(const Context& context, const std::vector<IncidentEntry>& incidents, DaySummary& summary) {
  const Options& options = context.options;
  const Range range{summary.day.begin_ms, summary.day.end_ms - 1};
  summary.limits_known = !TRY(context.reader.ticks(range)).empty();
  const auto add = [&](const char* kind, const NearLimit& near, const std::string& name, const std::string& command) {
    const std::string cache = near.cache_kib * 10 < near.used_kib
                                  ? ""
                                  : fmt::format(", {} of it page cache", format_size(near.cache_kib, options.units));
    const double percent = share_percent(near.used_kib, near.limit_kib).value_or(0);
    summary.attention.push_back(
        {.kind = kind,
         .subject = near.name,
         .text = fmt::format("{} used {} of its {} limit, {:.0f}%, at {}{}", name,
                             format_size(near.used_kib, options.units), format_size(near.limit_kib, options.units),
                             percent, format_minute(near.at_ms, {options.zone, summary.is_week()}), cache),
         .command = command + at_option(near.at_ms, options.zone),
         .at_ms = near.at_ms,
         .value_kib = near.used_kib,
         .limit_kib = near.limit_kib});
  };
  const ContainerNames containers = TRY(container_names(context.reader));
  for (const NearLimit& near : TRY(load_cgroups_near_limit(context.reader, range, kNearCgroupPercent))) {
    if (std::ranges::find(incidents, near.name, &IncidentEntry::cgroup) == incidents.end())
      add("near-limit", near, place_name(near.name, containers), "memoir cgroups ");
  }
  for (const NearLimit& near : TRY(load_tmpfs_near_limit(context.reader, range, kNearTmpfsPercent))) {
    if (std::ranges::find(incidents, near.name, &IncidentEntry::tmpfs) == incidents.end())
      add("tmpfs", near, "tmpfs " + to_printable(near.name), fmt::format("memoir tmpfs {} ", shell_path(near.name)));
  }
  return Done{};
}

void add_restarts(const Options& options, DaySummary& summary) {
  const Stamp stamp{options.zone, summary.is_week()};
  for (const RestartLoop& loop : summary.loops) {
    summary.attention.push_back(
        {.kind = "restarts",
         .subject = loop.title,
         .text = fmt::format("{} was started {} times from {} to {}", to_printable(loop.title), loop.times,
                             format_minute(loop.first_ms, stamp), format_minute(loop.last_ms, stamp)),
         .command = "memoir exits --day " + format_date(loop.last_ms, options.zone),
         .at_ms = loop.last_ms});
  }
  for (const Restarted& of : summary.restarts) {
    if (of.times < kManyRestarts || !of.is_service) continue;
    summary.attention.push_back(
        {.kind = "restarts",
         .subject = of.title,
         .text = fmt::format("{} was restarted {} times, last at {} after {}", to_printable(of.title), of.times,
                             format_minute(of.last_ms, stamp), format_span(of.lived_ms)),
         .command = "memoir exits --day " + format_date(of.last_ms, options.zone),
         .at_ms = of.last_ms});
  }
}

bool is_trouble(const Gap& gap) {
  return gap.reason != "before the first tick" && gap.reason != "rebooted";
}

std::string gap_text(std::vector<Gap> gaps, Stamp stamp) {
  std::erase_if(gaps, [](const Gap& gap) { return !is_trouble(gap); });
  std::int64_t sum_ms = 0;
  const Gap* longest = nullptr;
  for (const Gap& gap : gaps) {
    sum_ms += gap.to_ms - gap.from_ms;
    if (longest == nullptr || gap.to_ms - gap.from_ms > longest->to_ms - longest->from_ms) longest = &gap;
  }
  if (sum_ms < kLongGapMs) return {};
  if (gaps.size() == 1 && longest->reason == "after the last tick")
    return "nothing was recorded from " + format_minute(longest->from_ms, stamp) + " on";
  const std::string first = gaps.size() == 1 ? "" : "the longest ";
  return fmt::format("nothing was recorded for {} ({}from {} to {}: {})", format_span(sum_ms), first,
                     format_minute(longest->from_ms, stamp), format_minute(longest->to_ms, stamp), longest->reason);
}

Status add_recorder(const Context& context, DaySummary& summary) {
  const Stamp stamp{context.options.zone, summary.is_week()};
  const std::int64_t latest_ms = std::max(context.now_ms, context.file.last_tick_ms);
  const Range range{summary.day.begin_ms, std::min(summary.day.end_ms - 1, latest_ms)};
  const Coverage coverage = TRY(context.reader.coverage(range));
  const std::int64_t crashes = summary.recorder.unclean;
  std::string text =
      crashes == 0 ? "" : fmt::format("crashed {}", crashes == 1 ? "once" : format_count(crashes, "time", "times"));
  const std::string gap = gap_text(coverage.gaps, stamp);
  if (!gap.empty()) text += text.empty() ? gap : "; " + gap;
  const std::string command = "memoir events --day " + format_date(summary.day.begin_ms, context.options.zone);
  if (!text.empty())
    summary.attention.push_back(
        {.kind = "recorder", .text = (crashes == 0 ? "Recorder: " : "The recorder ") + text, .command = command});
  std::map<std::string, std::pair<std::int64_t, const Event*>> troubles;
  for (const Event& event : summary.recorder.events) {
    if (event.kind != "blocked" && event.kind != "lost" && event.kind != "quarantined") continue;
    auto& [times, last] = troubles[event.kind];
    ++times;
    last = &event;
  }
  for (const auto& [kind, of] : troubles) {
    summary.attention.push_back(
        {.kind = "recorder",
         .text = fmt::format("Recorder: {}{}", of.second->text,
                             of.first == 1 ? "" : fmt::format(" (the last of {} such events)", of.first)),
         .command = command,
         .at_ms = of.second->at.wall_ms});
  }
  return Done{};
}

}  // namespace

Status find_attention(const Context& context, DaySummary& summary) {
  const Range range{summary.day.begin_ms, summary.day.end_ms - 1};
  const std::vector<IncidentEntry> incidents = TRY(load_incidents(context, range));
  add_incidents(incidents, context.options, summary);
  TRY(add_near_limits(context, incidents, summary));
  add_restarts(context.options, summary);
  TRY(add_unusual(context, summary));
  TRY(add_recorder(context, summary));
  std::ranges::stable_sort(summary.attention, {}, [](const Concern& concern) {
    return std::ranges::find(kConcernKinds, concern.kind, [](const char* kind) { return std::string_view(kind); });
  });
  return Done{};
}

Section attention_section(const std::vector<Concern>& attention) {
  const Columns<Concern> columns{
      {{"kind", "KIND"}, &Concern::kind},
      {data_column("subject"), [](const Concern& row) { return row.subject.empty() ? Value() : row.subject; }},
      {data_column("at_ms", Kind::time), &Concern::at_ms},
      {data_column("value_kib", Kind::size), &Concern::value_kib},
      {data_column("limit_kib", Kind::size), &Concern::limit_kib},
      {data_column("runs_out_ms", Kind::time), &Concern::runs_out_ms},
      {data_column("command"), &Concern::command},
      {{"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true}, &Concern::text}};
  return {"attention", "Needs attention",
          make_table<Concern>(columns, attention, [](const Concern& row) { return row.tone; })};
}

}  // namespace memoir::query
