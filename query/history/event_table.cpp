#include "query/history/event_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

#include "query/report/format.h"

namespace memoir::query {
namespace {

Event event_at(std::int64_t wall_ms, const char* kind, std::string text) {
  return {{wall_ms, 0}, kind, std::move(text)};
}

// Omits the stop of an unclean run, which is stored as an event.
std::vector<Event> events_of_runs(const std::vector<StoredRun>& runs) {
  std::vector<Event> events;
  events.reserve(3 * runs.size());
  const StoredRun* before = nullptr;
  for (const StoredRun& run : runs) {
    if (before != nullptr && before->boot.boot_id != run.boot.boot_id) {
      events.push_back(
          event_at(run.boot.boot_ms, "boot", fmt::format("The machine booted, Linux {}", run.boot.kernel)));
    }
    events.push_back(event_at(run.started_ms, "start",
                              fmt::format("memoird {} ({}) started recording, every {}", run.version, run.pid,
                                          format_span(run.interval_ms))));
    if (run.stopped_ms && run.stop_reason != "unclean")
      events.push_back(
          event_at(*run.stopped_ms, "stop", fmt::format("memoird ({}) stopped: {}", run.pid, run.stop_reason)));
    before = &run;
  }
  return events;
}

}  // namespace

const std::vector<std::string>& event_kinds() {
  static const std::vector<std::string> kinds{
      "alert",        "blocked",  "boot",   "burst", "clock-step", "degraded",   "gap",         "limit",
      "limit-change", "lost",     "missed", "moved", "oom-kill",   "oom-victim", "quarantined", "reload",
      "restart",      "restored", "start",  "stop",  "suspend",    "throttled",  "tmpfs-full",  "unclean"};
  return kinds;
}

std::vector<Event> with_events_of_runs(const std::vector<Event>& stored, const std::vector<StoredRun>& runs,
                                       const std::vector<Gap>& gaps, Range range) {
  std::vector<Event> others = events_of_runs(runs);
  for (const Gap& gap : gaps) {
    if (gap.reason == "late")
      others.push_back(
          event_at(gap.to_ms, "missed",
                   fmt::format("Ticks of {} were missed: memoird ran late", format_span(gap.to_ms - gap.from_ms))));
  }
  std::erase_if(others, [range](const Event& event) {
    return event.at.wall_ms < range.from_ms || event.at.wall_ms > range.to_ms;
  });
  const auto earlier = [](const Event& a, const Event& b) { return a.at.wall_ms < b.at.wall_ms; };
  std::ranges::stable_sort(others, earlier);
  std::vector<Event> all;
  all.reserve(stored.size() + others.size());
  std::merge(others.begin(), others.end(), stored.begin(), stored.end(), std::back_inserter(all), earlier);
  return all;
}

Table event_table(const std::vector<Event>& events) {
  static const std::set<std::string> harmless{"boot",    "clock-step", "limit-change", "reload",
                                              "restart", "start",      "stop",         "suspend"};
  const Columns<Event> columns{
      {{"at_ms", "AT", Kind::time}, [](const Event& event) { return event.at.wall_ms; }},
      {{"kind", "KIND", Kind::text}, &Event::kind},
      {{"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true}, &Event::text},
  };
  return make_table<Event>(columns, events, [](const Event& event) {
    return event.kind == "oom-kill" || event.kind == "oom-victim" ? Tone::problem
           : harmless.contains(event.kind)                        ? Tone::plain
                                                                  : Tone::warning;
  });
}

}  // namespace memoir::query
