// memoir incident: what happened around a moment, on one screen; and below it what that rests on.

#include "query/commands/incident/incident.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>

#include "analysis/rolled.h"
#include "config/config.h"
#include "query/args/times.h"
#include "query/copies/copies.h"
#include "query/state/moment.h"
#include "store/events.h"

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

constexpr double kNoteworthyPercent = 5;
constexpr Metric kStalled = metric_of(MachineField::psi_some_total);
constexpr Metric kAvailable = metric_of(MachineField::mem_available);

Instant of_victim(OomVictim victim) {
  const std::int64_t at_ms = victim.at_ms;
  return {.at_ms = at_ms, .kind = Instant::Kind::oom_kill, .victim = std::move(victim), .counted = {}};
}

// Who asks for the second of a kill means the kill.
Result<Instant> at_time(Reader& reader, std::int64_t at_ms) {
  constexpr std::int64_t near_ms = 1'000;
  std::vector<OomVictim> victims = TRY(load_oom_victims(reader, {at_ms - near_ms, at_ms + near_ms}));
  if (victims.empty()) return Instant{.at_ms = at_ms};
  return of_victim(*std::ranges::min_element(
      victims, {}, [at_ms](const OomVictim& victim) { return std::abs(victim.at_ms - at_ms); }));
}

// With memory.oom.group one kill takes many: who was chosen comes first.
std::vector<OomVictim>::iterator first_of_group(std::vector<OomVictim>& victims) {
  constexpr std::int64_t together_ms = 100;
  auto first = std::prev(victims.end());
  while (first != victims.begin() && !first->killer && !std::prev(first)->killer &&
         first->at_ms - std::prev(first)->at_ms < together_ms)
    --first;
  return first;
}

// The kernel's word on whom is of the moment; its counters are read at ticks, and count no kill from user space.
Result<std::optional<Instant>> last_oom_kill(const Context& context) {
  // Whatever a file says of times.
  const Range always{0, context.file.last_tick_ms + kDayMs};
  std::optional<Instant> last;
  for (const Event& event : TRY(load_events(context.reader, always))) {
    if (event.kind == "oom-kill") {
      last = {.at_ms = event.at.wall_ms, .kind = Instant::Kind::oom_kill, .counted = event.text};
    }
  }
  std::vector<OomVictim> victims = TRY(load_oom_victims(context.reader, always));
  if (victims.empty()) return last;
  OomVictim& victim = *first_of_group(victims);
  if (!last || victim.at_ms >= last->at_ms) return std::optional(of_victim(std::move(victim)));
  // The tick that counts a kill comes after it.
  const std::int64_t interval_ms = context.runs.empty() ? 0 : context.runs.back().interval_ms;
  const std::int64_t since_ms = last->at_ms - std::max(kHourMs / 12, 2 * interval_ms);
  const bool told =
      std::ranges::any_of(victims, [since_ms](const OomVictim& of) { return !of.killer && of.at_ms >= since_ms; });
  return told ? std::optional(of_victim(std::move(victim))) : last;
}

Result<Instant> worst_of_day(const Context& context) {
  const Range day{std::max(context.file.last_tick_ms - kDayMs, context.file.first_tick_ms), context.file.last_tick_ms};
  std::vector<Interval> stalled;
  std::vector<Interval> available;
  TRY(context.reader.history(
      {Tier::five_minutes, SubjectKind::machine, {}, day, {kStalled, kAvailable}, true},
      [&](const SubjectInterval& of) { (of.metric == kStalled ? stalled : available).push_back(of.interval); }));
  Instant worst{.at_ms = day.to_ms, .kind = Instant::Kind::available};
  double most = kNoteworthyPercent;
  for (const Increase& bucket : increases_of(stalled)) {
    if (bucket.covered_ms < 1000) continue;
    const double percent =
        std::min(100.0, static_cast<double>(bucket.by) / 10 / static_cast<double>(bucket.covered_ms));
    if (percent <= most) continue;
    most = percent;
    worst = {.at_ms = bucket.until_ms - 1,
             .kind = Instant::Kind::pressure,
             .stalled_percent = percent,
             .stalled_ms = bucket.until_ms - bucket.from_ms};
  }
  if (worst.kind == Instant::Kind::pressure) return worst;
  const Figures figures = figures_of(available, day.from_ms, day.to_ms + 1);
  if (!figures.lowest) return worst;
  worst.available_kib = figures.lowest->value;
  worst.at_ms = std::clamp(figures.lowest->until_ms, day.from_ms, day.to_ms);
  return worst;
}

// Absent: nothing was recorded, or there was no OOM kill where one is asked for.
Result<std::optional<Instant>> find_instant(const Context& context) {
  if (context.when.at_ms) return std::optional(TRY(at_time(context.reader, *context.when.at_ms)));
  std::optional<Instant> kill = TRY(last_oom_kill(context));
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
