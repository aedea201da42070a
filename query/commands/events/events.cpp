// memoir events: OOM kills and recorder events.

#include "store/events.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>

#include "base/nearest.h"
#include "base/text.h"
#include "query/history/event_table.h"
#include "query/history/restarts.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "store/activity.h"

namespace memoir::query {
namespace {

// Returns the full range of the file: from the first to the last tick or event.
Range whole_range(const Context& context, const std::vector<Event>& events) {
  Range range{context.file.first_tick_ms, context.file.last_tick_ms};
  if (context.file.ticks == 0 && !events.empty()) range = {events.front().at.wall_ms, events.front().at.wall_ms};
  for (const Event& event : events) {
    range.from_ms = std::min(range.from_ms, event.at.wall_ms);
    range.to_ms = std::max(range.to_ms, event.at.wall_ms);
  }
  return range;
}

// "oom" means every kind with that prefix: oom-kill, oom-victim.
bool is_of_kind(std::string_view kind, std::string_view wanted) {
  return kind == wanted || (kind.starts_with(wanted) && kind.substr(wanted.size()).starts_with('-'));
}

// Returns an error for a kind that memoir does not know and that no event in the file has: it may be misspelt.
std::optional<Error> check_kinds(const std::vector<std::string>& asked, const std::vector<Event>& all) {
  std::set<std::string> known(event_kinds().begin(), event_kinds().end());
  for (const Event& event : all) known.insert(event.kind);
  const std::vector<std::string> kinds(known.begin(), known.end());
  for (const std::string& kind : asked) {
    if (std::ranges::any_of(kinds, [&](const std::string& name) { return is_of_kind(name, kind); })) continue;
    return malformed(fmt::format("--kind '{}' is not one of {}{}", to_printable(kind),
                                 to_printable(fmt::format("{}", fmt::join(kinds, ", "))), did_you_mean(kind, kinds)));
  }
  return std::nullopt;
}

void leave_asked(std::vector<Event>& events, const Options& options, Range range) {
  std::erase_if(events, [&](const Event& event) {
    const bool outside = event.at.wall_ms < range.from_ms || event.at.wall_ms > range.to_ms;
    const auto asked = [&](const std::string& kind) { return is_of_kind(event.kind, kind); };
    return outside || (!options.kinds.empty() && std::ranges::none_of(options.kinds, asked));
  });
}

void report_nothing(const Context& context, Report& report) {
  report.nothing_recorded = !report.coverage || (report.coverage->ticks == 0 && report.coverage->recorded_ms == 0);
  const auto& kinds = context.options.kinds;
  const std::string of =
      kinds.empty() ? std::string()
                    : fmt::format(" of the kind {}", to_printable(fmt::format("{}", fmt::join(kinds, " or "))));
  if (report.coverage && report.coverage->ticks > 0) {
    report.warnings = {fmt::format("no event{} in this range", of)};
  }
}

// Keeps the newest events, in recording order.
void limit_events(std::vector<Event>& events, const Context& context, Report& report) {
  const std::size_t all = events.size();
  const std::size_t shown = limited(context, all);
  events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(shown));
  add_row_totals(report, all, shown);
  if (shown < all) {
    note_left_out(report, fmt::format("{} of {} events; the other {} came before these (--limit 0 shows all).", shown,
                                      all, all - shown));
  }
}

bool asks_for_restarts(const Options& options) {
  return std::ranges::any_of(options.kinds, [](const std::string& kind) { return is_of_kind("restart", kind); });
}

// Returns false if restarts are not listed because the range is too long.
Result<bool> add_restart_events(const Context& context, Range range, std::vector<Event>& events) {
  if (context.file.ticks == 0 || (!context.options.kinds.empty() && !asks_for_restarts(context.options))) return true;
  if (range.to_ms - range.from_ms > kMaxRestartsMs) return false;
  const std::vector<Event> restarts = TRY(load_restart_events(context.reader, range));
  const auto count = static_cast<std::ptrdiff_t>(events.size());
  events.insert(events.end(), restarts.begin(), restarts.end());
  std::inplace_merge(events.begin(), events.begin() + count, events.end(),
                     [](const Event& a, const Event& b) { return a.at.wall_ms < b.at.wall_ms; });
  return true;
}

Result<Report> list_events(const Context& context) {
  constexpr Range always{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  std::vector<Event> events = TRY(load_events(context.reader, always));
  if (const auto error = check_kinds(context.options.kinds, events)) return *error;
  const Range asked = context.when.range.value_or(always);
  const Range range = context.when.range.value_or(whole_range(context, events));

  Report report = TRY(begin_range_report(context, range));
  // Without a tick nothing is recorded, even if a run started.
  if (context.file.ticks > 0) {
    const std::vector<Gap> gaps = report.coverage ? report.coverage->gaps : std::vector<Gap>();
    events = with_events_of_runs(events, context.runs, gaps, asked);
  }
  const bool has_restarts = TRY(add_restart_events(context, range, events));
  leave_asked(events, context.options, asked);
  report.title = "events of the recording";
  report.nothing_recorded = false;
  if (events.empty()) {
    report_nothing(context, report);
  } else {
    report.warnings.clear();  // the coverage reports a range without ticks
  }
  if (!has_restarts) {
    std::vector<std::string>& said = asks_for_restarts(context.options) ? report.warnings : report.notes;
    said.emplace_back("restarts of programs are listed for ranges of up to 2 days: --last 2d");
  }
  limit_events(events, context, report);
  const std::optional<Activity> activity = TRY(load_activity(context.reader, range));
  const std::optional<std::int64_t> kills = activity ? activity->oom_kills : std::nullopt;
  report.totals.push_back({"oom_kills", "", Kind::count, kills});
  if (kills.value_or(0) > 0)
    report.notes.push_back(format_count(*kills, "process was OOM-killed.", "processes were OOM-killed."));
  report.rows = event_table(events);
  return report;
}

}  // namespace

Command events_command() {
  return {.name = "events",
          .summary = "OOM kills and recorder events",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::kind, Option::limit},
          .examples = {{"memoir events --last 7d", "what went wrong with the recording in the last week"},
                       {"memoir events --kind gap --kind unclean --format json",
                        "every interruption, as JSON for a script"}},
          .run = list_events};
}

}  // namespace memoir::query
