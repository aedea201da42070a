// The summary in sentences: the first is the answer.

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"

namespace memoir::query {

namespace {

// Smaller changes are noise.
constexpr double kNoteworthyPercent = 2;
constexpr std::int64_t kNoteworthyKib = 10 * 1024;

// The mean over the previous days with enough recorded time, and their number.
struct Before {
  std::optional<std::int64_t> mean_kib;
  int days = 0;
};

Before before_of(const DaySummary& summary) {
  double weighted = 0;
  double weight = 0;
  Before before;
  for (std::size_t i = 0; i + 1 < summary.days.size(); ++i) {
    const SpanStats& used = summary.days[i].used;
    if (!used.mean || !summary.days[i].comparable()) continue;
    const auto covered = static_cast<double>(std::max<std::int64_t>(used.covered_ms, 1));
    weighted += covered * static_cast<double>(*used.mean);
    weight += covered;
    ++before.days;
  }
  if (weight > 0) before.mean_kib = std::llround(weighted / weight);
  return before;
}

std::string compared(std::int64_t mean_kib, const Before& before, Units units) {
  if (!before.mean_kib || *before.mean_kib <= 0) return "";
  const double percent =
      100.0 * static_cast<double>(mean_kib - *before.mean_kib) / static_cast<double>(*before.mean_kib);
  const std::string days = before.days == kDaysBefore
                               ? "the seven days before"
                               : format_count(before.days, "recorded day before", "recorded days before");
  if (std::abs(percent) < kNoteworthyPercent) return fmt::format(", as in {}", days);
  return fmt::format(", {:.0f}% {} than in {} ({})", std::abs(percent), percent > 0 ? "more" : "less", days,
                     format_size(*before.mean_kib, units));
}

std::string used_sentence(const DaySummary& summary, const Options& options) {
  const MachineDay& today = summary.today();
  if (!today.used.mean) return "Memory in use is unknown.";
  std::string sentence =
      fmt::format("Memory in use was {} on average{}", format_size(*today.used.mean, options.units),
                  today.comparable() ? compared(*today.used.mean, before_of(summary), options.units) : "");
  if (today.used.highest) {
    const bool exact = today.used.highest->from_ms == today.used.highest->until_ms;
    sentence +=
        fmt::format("; at most {}{}, {} {}", format_size(today.used.highest->value, options.units),
                    summary.total_kib ? " of " + format_size(*summary.total_kib, options.units) : "",
                    exact ? "at" : "within", format_reached(*today.used.highest, {options.zone, summary.is_week()}));
    if (!summary.holders.empty()) {
      sentence += fmt::format(", when {} used {}", to_printable(summary.holders.front().title),
                              format_size(summary.holders.front().kib, options.units));
    }
  }
  return sentence + ".";
}

std::string trouble_sentence(const DaySummary& summary, const Options& options) {
  const MachineDay& today = summary.today();
  std::vector<std::string> parts;
  const std::optional<std::int64_t> kills = today.oom_kills();
  const bool no_kill = kills == 0;
  if (kills && !no_kill) parts.push_back(format_count(*kills, "OOM kill", "OOM kills"));
  if (today.swap.highest && today.swap.highest->value > 0) {
    parts.push_back(fmt::format("swap in use up to {}", format_size(today.swap.highest->value, options.units)));
  }
  if (today.stalled_percent && *today.stalled_percent >= kNoteworthyStallPercent) {
    parts.push_back(fmt::format("tasks stalled on memory for {} of the time", format_percent(*today.stalled_percent)));
  }
  if (parts.empty()) return today.stalled_percent && no_kill ? " No OOM kill, no swap in use, no stall." : "";
  std::string sentence = " ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sentence += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  if (no_kill) sentence += ", but no OOM kill";
  sentence[1] = static_cast<char>(sentence[1] >= 'a' && sentence[1] <= 'z' ? sentence[1] - 'a' + 'A' : sentence[1]);
  return sentence + ".";
}

std::string growth_sentence(const DaySummary& summary, const Options& options) {
  const Usage* most = nullptr;
  for (const Usage& of : summary.identities) {
    if (of.grown_day().value_or(0) < kNoteworthyKib) continue;
    if (most == nullptr || *of.grown_day() > *most->grown_day()) most = &of;
  }
  if (most == nullptr) return "";
  return fmt::format(" Grew most: {}, by {}.", to_printable(with_pid(most->title, most->pid)),
                     format_size(*most->grown_day(), options.units));
}

}  // namespace

std::string format_weekday(const Civil& at) {
  constexpr std::array names{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  return names[static_cast<std::size_t>(weekday(at))];
}

std::string format_minute(std::int64_t ms, Stamp stamp) {
  const Civil at = to_civil(ms, stamp.zone);
  const std::string minute = fmt::format("{:02}:{:02}", at.hour, at.minute);
  return stamp.weekday ? format_weekday(at) + " " + minute : minute;
}

std::string format_reached(const Extremum& at, Stamp stamp) {
  const std::string from = format_minute(at.from_ms, stamp);
  return at.from_ms == at.until_ms ? from : fmt::format("{} to {}", from, format_minute(at.until_ms, stamp.zone));
}

std::string summary_lead(const DaySummary& summary, const Options& options) {
  return (summary.dull() ? "Nothing needs attention. " : "") + used_sentence(summary, options) +
         trouble_sentence(summary, options) + growth_sentence(summary, options) + leak_sentence(summary, options);
}

std::string dull_lead(const DaySummary& summary, const Options& options) {
  const MachineDay& today = summary.today();
  std::string text = "Nothing needs attention";
  if (today.used.mean) text += fmt::format("; {} used", format_size(*today.used.mean, options.units));
  if (today.used.mean && today.used.highest)
    text += fmt::format(", peak {}", format_size(today.used.highest->value, options.units));
  return text + " (--all: figures).";
}

}  // namespace memoir::query
