// memoir incident: one incident on one screen, with the evidence below it.

#include "query/commands/incident/incident.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>

#include "analysis/span_stats.h"
#include "base/text.h"
#include "config/config.h"
#include "query/args/subject.h"
#include "query/args/times.h"
#include "query/copies/copies.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kWindowMs = 10 * 60 * 1000;

Result<std::int64_t> window_asked(const Options& options) {
  if (!options.window) return kWindowMs;
  const auto length = parse_duration(*options.window);
  if (!length) return malformed("--window " + length.error().message);
  if (length->count() < 1000 || length->count() > kDayMs) {
    return malformed("--window must be from 1s to 1d; memoir diff T1 T2 compares any two times");
  }
  return length->count();
}

constexpr double kNoteworthyPercent = 5;
constexpr Metric kStalled = metric_of(MachineField::psi_some_total);
constexpr Metric kAvailable = metric_of(MachineField::mem_available);

IncidentTime instant_of(IncidentEntry entry) {
  IncidentTime instant{.at_ms = entry.at_ms, .kind = IncidentTime::Kind::listed};
  if (const OomVictim* const victim = entry.shown_victim()) instant.victim = *victim;
  instant.entry = std::move(entry);
  return instant;
}

Result<std::optional<IncidentTime>> last_kill(const Context& context) {
  // A kill may be outside the recorded range.
  std::vector<IncidentEntry> kills = TRY(load_kill_incidents(context, {0, context.file.last_tick_ms + kDayMs}));
  return kills.empty() ? std::nullopt : std::optional(instant_of(std::move(kills.front())));
}

Result<std::vector<IncidentEntry>> load_listed(const Context& context) {
  const Range asked = context.when.range.value_or(Range{context.file.first_tick_ms, context.file.last_tick_ms});
  return load_incidents(context, asked);
}

// Returns incident N of the list if `word` is a number, and otherwise the last incident of SUBJECT; with --at, its
// incident nearest to that time.
Result<IncidentTime> chosen_incident(const Context& context, const std::string& word) {
  std::vector<IncidentEntry> incidents = TRY(load_listed(context));
  const auto at_ms = context.when.at_ms;
  const auto number = at_ms ? std::nullopt : parse_number<std::int64_t>(word);
  if (number && *number >= 1 && *number <= std::ssize(incidents))
    return instant_of(std::move(incidents[static_cast<std::size_t>(*number - 1)]));
  if (number && *number <= 0)
    return malformed("incidents are numbered from 1, the latest: use memoir incident 1 (memoir incidents lists them)");
  std::vector<IncidentEntry> of_subject = TRY(incidents_of(context, std::move(incidents), word));
  if (of_subject.empty()) return Error{ErrorKind::not_found, "no incident of the machine is recorded"};
  if (at_ms) return instant_of(*nearest_incident(std::move(of_subject), *at_ms));
  return instant_of(std::move(of_subject.front()));
}

Result<IncidentTime> worst_of_day(const Context& context) {
  const Range day{std::max(context.file.last_tick_ms - kDayMs, context.file.first_tick_ms), context.file.last_tick_ms};
  SeriesByMetric series = TRY(
      load_series(context.reader, {Tier::five_minutes, SubjectKind::machine, {}, day, {kStalled, kAvailable}, true}));
  IncidentTime worst{.at_ms = day.to_ms, .kind = IncidentTime::Kind::available};
  double most = kNoteworthyPercent;
  for (const Increase& bucket : increases_of(series[kStalled])) {
    if (bucket.covered_ms < 1000) continue;
    const double percent =
        std::min(100.0, static_cast<double>(bucket.by) / 10 / static_cast<double>(bucket.covered_ms));
    if (percent <= most) continue;
    most = percent;
    worst = {.at_ms = bucket.until_ms - 1,
             .kind = IncidentTime::Kind::pressure,
             .stalled_percent = percent,
             .stalled_ms = bucket.until_ms - bucket.from_ms};
  }
  if (worst.kind == IncidentTime::Kind::pressure) return worst;
  const SpanStats figures = span_stats_of(series[kAvailable], day.from_ms, day.to_ms + 1);
  if (!figures.lowest) return worst;
  worst.available_kib = figures.lowest->value;
  worst.at_ms = std::clamp(figures.lowest->until_ms, day.from_ms, day.to_ms);
  return worst;
}

// Returns nullopt if nothing was recorded, or if an OOM kill was requested and there was none.
Result<std::optional<IncidentTime>> find_instant(const Context& context) {
  if (!context.options.subjects.empty())
    return std::optional(TRY(chosen_incident(context, context.options.subjects.front())));
  if (context.when.at_ms) {
    auto entry = TRY(incident_at(context, *context.when.at_ms));
    return entry ? instant_of(*std::move(entry)) : std::optional(IncidentTime{.at_ms = *context.when.at_ms});
  }
  std::optional<IncidentTime> kill = TRY(last_kill(context));
  if (kill || context.options.last_oom) return kill;
  return std::optional(TRY(worst_of_day(context)));
}

Report no_incident(const Context& context) {
  if (!context.options.last_oom || context.file.ticks == 0) return nothing_recorded(context);
  Report report;
  report.nothing_recorded = true;
  report.warnings.emplace_back("no OOM kill is recorded; without --last-oom the worst of the last day is shown");
  return report;
}

// Writes the file of --extract, if it was requested, and notes it in the report.
Status write_extract(const Context& context, Range range, Report& report) {
  if (!context.options.extract) return Done{};
  Options options = context.options;
  options.output = context.options.extract;
  const Report written = TRY(copy_to_output(context.file.path, options, "extract",
                                            [range](const CopyPlan& plan) { return extract(plan, range); }));
  report.notes.push_back(
      fmt::format("The recording around this time is in {}, with command lines as recorded "
                  "(secrets were redacted before that).",
                  *context.options.extract));
  report.totals.push_back({"extract", "", Kind::text, *context.options.extract});
  return Done{};
}

Result<Report> show_incident(const Context& context) {
  const Options& options = context.options;
  if (options.last_oom && (options.at || !options.subjects.empty()))
    return malformed("--last-oom cannot go with --at, N or SUBJECT");
  const std::int64_t window_ms = TRY(window_asked(options));
  const std::optional<IncidentTime> instant = TRY(find_instant(context));
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
          .summary = "one incident within its scope (default: last OOM kill)",
          .subject = "[SUBJECT]",
          .options = {Option::at, Option::last_oom, Option::window, Option::limit, Option::ascii, Option::extract,
                      Option::force},
          .examples = {{"memoir incident", "the last OOM kill, else the worst of the last day, on one screen"},
                       {"memoir incident nginx", "the last incident of a service"},
                       {"memoir incident --at 03:14 --format html > incident.html",
                        "what happened at 03:14, as a page for a ticket"}},
          .run = show_incident,
          .subject_help = fmt::format("SUBJECT: N of memoir incidents, or the last incident of {}", kSubjectForms),
          .subject_words = {std::string(kCategoryNames)}};
}

}  // namespace memoir::query
