#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/history/tier.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

constexpr std::size_t kTextColumns = 80;

std::string format_long_date(std::int64_t ms, Zone zone) {
  constexpr std::array days{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                              "July",    "August",   "September", "October", "November", "December"};
  const Civil at = to_civil(ms, zone);
  return fmt::format("{}, {} {} {}", days[static_cast<std::size_t>(weekday(at))], at.day,
                     months[static_cast<std::size_t>(at.month - 1)], at.year);
}

// "on Thursday, 26 November 2026", "from Friday, 20 November 2026 to Thursday, 26 November 2026"
std::string period_title(const DaySummary& summary, Zone zone) {
  if (!summary.is_week()) return "on " + format_long_date(summary.day.begin_ms, zone);
  return fmt::format("from {} to {}", format_long_date(summary.parts.front().begin_ms, zone),
                     format_long_date(summary.parts.back().begin_ms, zone));
}

std::vector<Field> facts_for_people(const DaySummary& summary, Zone zone) {
  const MachineDay& today = summary.today();
  const Stamp stamp{zone, summary.is_week()};
  const auto when = [stamp](const char* what, const std::optional<Extremum>& at) {
    return at ? fmt::format("{}, {}", what, format_reached(*at, stamp)) : std::string(what);
  };
  std::vector<Field> facts{
      {"used_mean_kib", "Mean in use", Kind::size, today.used.mean},
      {"used_max_kib", when("Peak in use", today.used.highest), Kind::size, kib_of(today.used.highest)},
      {"available_min_kib", when("Lowest available", today.available.lowest), Kind::size,
       kib_of(today.available.lowest)},
      {"swap_max_kib", "Peak swap", Kind::size, kib_of(today.swap.highest)},
      {"stalled_percent", "Memory stall (PSI some)", Kind::percent, today.stalled_percent,
       today.stalled_percent.value_or(0) >= kNoteworthyStallPercent ? Tone::warning : Tone::plain},
      {"oom_kills", "OOM kills", Kind::count, today.oom_kills(),
       today.oom_kills().value_or(0) > 0 ? Tone::problem : Tone::plain}};
  // Problems first, the worst before the others.
  std::ranges::stable_sort(facts, std::ranges::greater(), &Field::tone);
  return facts;
}

std::vector<Field> facts_for_machines(const DaySummary& summary, Zone zone) {
  const MachineDay& today = summary.today();
  const RecorderDay& recorder = summary.recorder;
  const auto activity = [&today](auto count) { return today.activity ? Value((*today.activity).*count) : Value(); };
  return {{"day", "", Kind::text, format_date(summary.day.begin_ms, zone)},
          {"days", "", Kind::count, summary.is_week() ? summary.parts.size() : std::size_t{1}},
          {"notable", "", Kind::text, !summary.dull()},
          {"limits_known", "", Kind::text, summary.limits_known},
          {"over", "", Kind::text, summary.over},
          {"tier", "", Kind::text, std::string(to_string(summary.tier))},
          {"total_kib", "", Kind::size, summary.total_kib},
          {"swap_total_kib", "", Kind::size, summary.swap_total_kib},
          {"used_max_at_ms", "", Kind::time, ms_of(today.used.highest)},
          {"used_max_until_ms", "", Kind::time, today.used.highest ? today.used.highest->until_ms : Value()},
          {"available_min_at_ms", "", Kind::time, ms_of(today.available.lowest)},
          {"swap_max_at_ms", "", Kind::time, ms_of(today.swap.highest)},
          {"stalled_worst_percent", "", Kind::percent, today.worst_percent},
          {"stalled_worst_from_ms", "", Kind::time, ms_of(today.worst)},
          {"processes_started", "", Kind::count, activity(&Activity::started)},
          {"processes_exited", "", Kind::count, activity(&Activity::exited)},
          {"processes_short_lived", "", Kind::count, activity(&Activity::short_lived)},
          {"processes_alive", "", Kind::count, activity(&Activity::alive)},
          {"recorder_starts", "", Kind::count, recorder.starts},
          {"recorder_unclean_ends", "", Kind::count, recorder.unclean},
          {"boots", "", Kind::count, static_cast<std::int64_t>(recorder.boots_ms.size())},
          {"recorder_core_percent", "", Kind::percent, recorder.core_percent},
          {"recorder_cpu_us_per_tick", "", Kind::count, recorder.mean_cpu_us},
          {"leaks_judged", "", Kind::count, summary.leak_counts.judged},
          {"leaks_insufficient", "", Kind::count, summary.leak_counts.insufficient},
          {"recorder_pss_kib", "", Kind::size, recorder.pss.mean},
          {"recorder_pss_max_kib", "", Kind::size, kib_of(recorder.pss.highest)}};
}

void add_peak_note(const DaySummary& summary, const Options& options, Report& report) {
  if (summary.holders.empty()) return;
  std::string line =
      fmt::format("At the peak, {}:", format_reached(*summary.today().used.highest, {options.zone, summary.is_week()}));
  for (std::size_t i = 0; i < summary.holders.size(); ++i) {
    line += fmt::format("{} {} {}", i == 0 ? "" : ",", to_printable(summary.holders[i].title),
                        format_size(summary.holders[i].kib, options.units));
  }
  report.notes.push_back(line + ".");
}

void add_pressure_note(const MachineDay& today, Stamp stamp, Report& report) {
  if (!today.worst || today.worst_percent.value_or(0) < kNoteworthyStallPercent) return;
  report.notes.push_back(fmt::format("Stalled on memory at the worst {} of the time, {} to {}.",
                                     format_percent(*today.worst_percent), format_minute(today.worst->from_ms, stamp),
                                     format_minute(today.worst->until_ms, stamp.zone)));
}

void add_recorder_note(const DaySummary& summary, const Options& options, Report& report) {
  const RecorderDay& recorder = summary.recorder;
  std::string line;
  for (const std::int64_t boot_ms : recorder.boots_ms) {
    line += fmt::format("The machine booted at {}. ", format_minute(boot_ms, {options.zone, summary.is_week()}));
  }
  if (recorder.starts > 0) {
    line += fmt::format("The recorder started {}. ",
                        recorder.starts == 1 ? "once" : format_count(recorder.starts, "time", "times"));
  }
  if (recorder.unclean > 0)
    line += fmt::format("It crashed {}. ",
                        recorder.unclean == 1 ? "once" : format_count(recorder.unclean, "time", "times"));
  if (recorder.core_percent) {
    line += fmt::format("Recording took {:.2f}% of one core ({:.1f} ms a tick)", *recorder.core_percent,
                        *recorder.mean_cpu_us / 1000);
    line += recorder.pss.mean ? "" : ". ";
  }
  if (recorder.pss.mean) {
    line += fmt::format("{}{} of memory (at most {}).", recorder.core_percent ? " and " : "Recording took ",
                        format_size(*recorder.pss.mean, options.units),
                        format_size(recorder.pss.highest->value, options.units));
  }
  if (!line.empty()) report.notes.push_back(line);
}

// Two periods are compared if at least half of each was recorded.
void add_compared_note(const DaySummary& summary, Report& report) {
  const auto left_out = std::ranges::count_if(
      summary.days, [](const MachineDay& day) { return day.recorded_ms > 0 && !day.comparable(); });
  if (left_out == 0) return;
  report.notes.push_back(
      fmt::format("{} recorded for less than half, and not compared with others.",
                  left_out == 1 ? "1 of these days was" : fmt::format("{} of these days were", left_out)));
}

std::string process_note(const std::optional<Activity>& activity) {
  if (!activity) return "Started and exited processes are unknown: only rollups wider than the day are left.";
  std::string note =
      fmt::format("{} started and {} exited, {} of them within ten minutes of their start; {} ran at the end.",
                  format_count(activity->started, "process", "processes"), activity->exited, activity->short_lived,
                  activity->alive.value_or(0));
  if (activity->reported_ticks < activity->ticks) {
    const std::string when =
        activity->reported_ticks == 0
            ? "The"
            : fmt::format("In {} of {} ticks the", activity->ticks - activity->reported_ticks, activity->ticks);
    note += fmt::format(" {} kernel reported no exits: processes between two ticks are not counted.", when);
  }
  if (activity->lost_events > 0)
    note += fmt::format(" {}: more started and exited.",
                        format_count(activity->lost_events, "event was lost", "events were lost"));
  return note;
}

void add_notes(const DaySummary& summary, const Options& options, Report& report) {
  add_compared_note(summary, report);
  add_peak_note(summary, options, report);
  add_pressure_note(summary.today(), {options.zone, summary.is_week()}, report);
  report.notes.push_back(process_note(summary.today().activity));
  add_recorder_note(summary, options, report);
  if (!summary.limits_known)
    report.notes.emplace_back(
        "Cgroups and tmpfs mounts near their limits are unknown: the ticks of that time have expired.");
  if (summary.tier != Tier::five_minutes) {
    report.notes.push_back(
        fmt::format("From rollup buckets of {}: times are no more exact than that.", tier_width(summary.tier)));
  }
}

}  // namespace

void fill_summary(const Context& context, const DaySummary& summary, bool whole, Report& report) {
  const Options& options = context.options;
  const Zone zone = options.zone;
  report.title = fmt::format("memory {}{}", period_title(summary, zone), summary.over ? "" : ", so far");
  report.title_has_range = true;
  report.width = kTextColumns;
  report.warnings.insert(report.warnings.end(), summary.warnings.begin(), summary.warnings.end());
  const bool display_column = options.format == Format::table || options.format == Format::markdown;
  if (summary.dull() && display_column && !whole) {
    report.lead = dull_lead(summary, options);
    return;
  }
  report.first = attention_section(summary.attention);
  report.lead = summary_lead(summary, options);
  report.facts = facts_for_people(summary, zone);
  for (Field& fact : facts_for_machines(summary, zone)) report.facts.push_back(std::move(fact));
  report.drawing = summary_drawing(summary, options,
                                   context.screen ? context.screen->columns : columns_asked().value_or(kTextColumns));
  report.charts = summary_charts(summary, zone);
  report.rows_title = summary.is_week() ? "The days of the week" : "This day and the days before";
  report.rows = summary_days(summary, options);
  report.sections = summary_sections(summary, options);
  add_notes(summary, options, report);
}

}  // namespace memoir::query
