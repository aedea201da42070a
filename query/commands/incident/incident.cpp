// memoir incident: what happened around a moment, on one screen; and below it what that rests on.

#include "query/commands/incident/incident.h"

#include <fmt/format.h>

#include "config/config.h"
#include "query/answer/copies/copies.h"
#include "query/answer/moment.h"
#include "query/ask/times.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kWindowMs = 10 * 60 * 1000;

Result<std::int64_t> window_asked(const Options& options) {
  if (!options.window) return kWindowMs;
  const auto length = parse_duration(*options.window);
  if (!length) return malformed("--window " + length.error().message);
  if (length->count() < 1000 || length->count() > kDayMs) {
    return malformed("--window: from 1s to 1d can be compared; memoir diff T1 T2 compares any two times");
  }
  return length->count();
}

Report no_incident(const Context& context) {
  if (!context.options.last_oom || context.file.ticks == 0) return nothing_recorded(context);
  Report report;
  report.nothing_recorded = true;
  report.warnings.emplace_back("no OOM kill is recorded; without --last-oom the worst of the last day is shown");
  return report;
}

// Beside the answer, which goes on without.
Status write_extract(const Context& context, Range range, Report& report) {
  if (!context.options.extract) return Done{};
  Options options = context.options;
  options.output = context.options.extract;
  const Report written = TRY(copy_to_output(context.file.path, options, "extract",
                                            [range](const CopyPlan& plan) { return extract(plan, range); }));
  report.notes.push_back(
      fmt::format("What was recorded around it is in {}, with command lines as they were recorded "
                  "(secrets were redacted before).",
                  *context.options.extract));
  report.totals.push_back({"extract", "", Kind::text, *context.options.extract});
  return Done{};
}

Result<Report> show_incident(const Context& context) {
  if (context.options.last_oom && context.options.at) return malformed("--at and --last-oom: give one of them");
  const std::int64_t window_ms = TRY(window_asked(context.options));
  const std::optional<Instant> instant = TRY(find_instant(context));
  if (!instant) return no_incident(context);
  const std::optional<Incident> incident = TRY(load_incident(context, *instant, window_ms));
  if (!incident) return nothing_recorded(context);
  Report report = TRY(begin_range_report(context, incident->range));
  TRY(fill_incident(context, *incident, report));
  TRY(write_extract(context, incident->range, report));
  return report;
}

}  // namespace

Command incident_command() {
  return {.name = "incident",
          .summary = "what happened around a moment: who grew, who died and why; by default the last OOM kill",
          .options = {Option::at, Option::last_oom, Option::window, Option::limit, Option::ascii, Option::extract,
                      Option::force},
          .examples = {{"memoir incident", "the last OOM kill, else the worst of the last day, on one screen"},
                       {"memoir incident --at 03:14 --format html > incident.html",
                        "what happened at 03:14, as a page for a ticket"}},
          .run = show_incident,
          .formats = {"table", "json", "csv", "markdown", "html"}};
}

}  // namespace memoir::query
