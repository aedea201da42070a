#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

constexpr std::size_t kTextColumns = 80;

std::string print_long_date(std::int64_t ms, Zone zone) {
  constexpr std::array days{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                              "July",    "August",   "September", "October", "November", "December"};
  const Civil at = to_civil(ms, zone);
  return fmt::format("{}, {} {} {}", days[static_cast<std::size_t>(weekday(at))], at.day,
                     months[static_cast<std::size_t>(at.month - 1)], at.year);
}

std::vector<Field> facts_for_people(const DaySummary& summary, Zone zone) {
  const MachineDay& today = summary.today();
  const auto when = [zone](const char* what, const std::optional<Extremum>& at) {
    return at ? fmt::format("{}, {}", what, print_reached(*at, zone)) : std::string(what);
  };
  std::vector<Field> facts{
      {"used_mean_kib", "In use, mean", Kind::size, today.used.mean},
      {"used_max_kib", when("In use, most", today.used.highest), Kind::size, kib_of(today.used.highest)},
      {"available_min_kib", when("Available, least", today.available.lowest), Kind::size,
       kib_of(today.available.lowest)},
      {"swap_max_kib", "Swap, most", Kind::size, kib_of(today.swap.highest)},
      {"stalled_percent", "Stalled on memory (PSI)", Kind::percent, today.stalled_percent,
       today.stalled_percent.value_or(0) >= kNoteworthyStallPercent ? Tone::warning : Tone::plain},
      {"oom_kills", "OOM kills", Kind::count, today.oom_kills,
       today.oom_kills.value_or(0) > 0 ? Tone::problem : Tone::plain}};
  // Trouble first, the worst before all.
  std::ranges::stable_sort(facts, std::ranges::greater(), &Field::tone);
  return facts;
}

std::vector<Field> facts_for_machines(const DaySummary& summary, Zone zone) {
  const MachineDay& today = summary.today();
  const RecorderDay& recorder = summary.recorder;
  return {{"day", "", Kind::text, print_date(summary.day.begin_ms, zone)},
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
          {"processes_began", "", Kind::count, summary.began},
          {"processes_ended", "", Kind::count, summary.ended},
          {"processes_short_lived", "", Kind::count, summary.shortly},
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
  std::string line = fmt::format("At the peak, {}:", print_reached(*summary.today().used.highest, options.zone));
  for (std::size_t i = 0; i < summary.holders.size(); ++i) {
    line += fmt::format("{} {} {}", i == 0 ? "" : ",", to_printable(summary.holders[i].title),
                        print_size(summary.holders[i].kib, options.units));
  }
  report.notes.push_back(line + ".");
}

void add_pressure_note(const MachineDay& today, const Options& options, Report& report) {
  if (!today.worst || today.worst_percent.value_or(0) < kNoteworthyStallPercent) return;
  report.notes.push_back(
      fmt::format("Stalled on memory at the worst {} of the time, {} to {}.", print_percent(*today.worst_percent),
                  print_minute(today.worst->from_ms, options.zone), print_minute(today.worst->until_ms, options.zone)));
}

void add_recorder_note(const DaySummary& summary, const Options& options, Report& report) {
  const RecorderDay& recorder = summary.recorder;
  std::string line;
  for (const std::int64_t boot_ms : recorder.boots_ms) {
    line += fmt::format("The machine was booted at {}. ", print_minute(boot_ms, options.zone));
  }
  if (recorder.starts > 0) {
    line += fmt::format("The recorder was started {}. ",
                        recorder.starts == 1 ? "once" : print_count(recorder.starts, "time", "times"));
  }
  if (recorder.unclean > 0)
    line +=
        fmt::format("It died {}. ", recorder.unclean == 1 ? "once" : print_count(recorder.unclean, "time", "times"));
  if (recorder.core_percent) {
    line += fmt::format("Recording took {:.2f}% of one core ({:.1f} ms a tick)", *recorder.core_percent,
                        *recorder.mean_cpu_us / 1000);
    line += recorder.pss.mean ? "" : ". ";
  }
  if (recorder.pss.mean) {
    line += fmt::format("{}{} of memory (at most {}).", recorder.core_percent ? " and " : "Recording took ",
                        print_size(*recorder.pss.mean, options.units),
                        print_size(recorder.pss.highest->value, options.units));
  }
  if (!line.empty()) report.notes.push_back(line);
}

// A period is compared with another where at least half of both was recorded.
void add_compared_note(const DaySummary& summary, Report& report) {
  const auto left_out = std::ranges::count_if(
      summary.days, [](const MachineDay& day) { return day.recorded_ms > 0 && !day.comparable(); });
  if (left_out == 0) return;
  report.notes.push_back(
      fmt::format("{} recorded for less than half, and not compared with others.",
                  left_out == 1 ? "1 of these days was" : fmt::format("{} of these days were", left_out)));
}

void add_notes(const DaySummary& summary, const Options& options, Report& report) {
  add_compared_note(summary, report);
  add_peak_note(summary, options, report);
  add_pressure_note(summary.today(), options, report);
  report.notes.push_back(fmt::format("{} began and {} ended; {} of these lived for less than ten minutes.",
                                     print_count(summary.began, "process", "processes"), summary.ended,
                                     summary.shortly));
  add_recorder_note(summary, options, report);
  if (summary.tier != Tier::five_minutes) {
    report.notes.push_back(fmt::format("The day is told from buckets of {}: times are as coarse.",
                                       summary.tier == Tier::hour ? "an hour" : "a UTC day"));
  }
}

}  // namespace

void fill_summary(const Context& context, const DaySummary& summary, Report& report) {
  const Options& options = context.options;
  const Zone zone = options.zone;
  report.title =
      fmt::format("memory on {}{}", print_long_date(summary.day.begin_ms, zone), summary.over ? "" : ", so far");
  report.lead = summary_lead(summary, options);
  report.width = kTextColumns;
  report.facts = facts_for_people(summary, zone);
  for (Field& fact : facts_for_machines(summary, zone)) report.facts.push_back(std::move(fact));
  report.drawing = summary_drawing(summary, options,
                                   context.screen ? context.screen->columns : columns_asked().value_or(kTextColumns));
  report.charts = summary_charts(summary, zone);
  report.rows_title = "The seven days before, and the day itself, the last";
  report.rows = summary_days(summary, zone);
  report.sections = summary_sections(summary, options);
  add_notes(summary, options, report);
  report.warnings.insert(report.warnings.end(), summary.warnings.begin(), summary.warnings.end());
}

}  // namespace memoir::query
