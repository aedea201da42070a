// Leaks at the end of the day.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/state/limit.h"
#include "query/state/process_columns.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMaxLeaks = 10;
constexpr double kFaster = 1.5;               // a leak is faster if its slope is this many times the slope a day before
constexpr std::int64_t kSoonMs = 7 * kDayMs;  // a limit is near if it is reached within this time

std::string what_of(const LeakRow& row) {
  return row.metric.name == LeakMetric().name ? row.title : fmt::format("{} ({})", row.title, row.metric.name);
}

// Returns a narrower table than memoir leaks, with the same machine-readable columns.
Table table_of(const std::vector<LeakRow>& rows, const Options& options) {
  Columns<LeakRow> columns;
  columns.add(data_column("subject"), &LeakRow::subject);
  columns.add(data_column("title"), &LeakRow::title);
  columns.add(data_column("unit"), [](const LeakRow& row) { return row.unit.empty() ? Value() : row.unit; });
  columns.add(data_column("metric"), [](const LeakRow& row) { return row.metric.name; });
  columns.add(data_column("verdict"), [](const LeakRow& row) { return to_string(row.finding.verdict); });
  for (auto& column : leak_numbers()) columns.push_back(std::move(column));
  columns.add(data_column("reason"), [](const LeakRow& row) { return row.finding.reason; });
  add_slope(columns, options, 3);
  add_outlook(columns);
  columns.add({"pid", "PID", Kind::count, 5}, &LeakRow::pid);
  columns.add(display_column("WHAT"), [](const LeakRow& row) { return what_of(row); });
  return make_table(columns, rows);
}

// Returns the verdict on the same series up to an earlier time.
LeakFinding judged_until(const LeakRow& row, std::int64_t ms, const LeakSettings& settings) {
  LeakSeries series = row.series;
  std::erase_if(series.buckets, [&](const LeakBucket& bucket) { return bucket.from_ms + series.width_ms > ms; });
  return judge_leak(series, row.metric, settings);
}

std::optional<std::int64_t> runs_out_in(const LeakRow& row) {
  if (!row.finding.exhaustion || !row.finding.exhaustion->in_ms) return std::nullopt;
  return std::llround(row.finding.exhaustion->in_ms->value);
}

// Returns a concern for a leak that is new, has become faster, or reaches its limit soon.
std::optional<Concern> concern_of(const LeakRow& row, const DaySummary& summary, const LeakSettings& settings,
                                  const Options& options) {
  const LeakFinding& found = row.finding;
  if (!found.leak || row.exited_ms) return std::nullopt;
  const auto amount = [&](double value) { return format_amount(value, row.metric.unit, options.units); };
  const auto in_ms = runs_out_in(row);
  const LeakFinding before = judged_until(row, summary.day.begin_ms, settings);
  std::string news;
  if (!before.leak) {
    news = "new: ";
  } else if (found.slope_per_day.value >= kFaster * before.slope_per_day.value) {
    news = fmt::format("faster, {} a day before: ", amount(before.slope_per_day.value));
  } else if (!in_ms || *in_ms > kSoonMs) {
    return std::nullopt;
  }
  Concern concern{.kind = "leak", .subject = row.title, .command = "memoir leaks"};
  concern.text = fmt::format("{}{} has leaked {} a day since {}", news, to_printable(with_pid(what_of(row), row.pid)),
                             amount(found.slope_per_day.value), format_date(found.since_ms, options.zone));
  if (row.metric.unit == LeakUnit::kib) concern.value_kib = std::llround(found.slope_per_day.value);
  if (!in_ms) return concern;
  concern.runs_out_ms = found.until_ms + *in_ms;
  concern.text += fmt::format("; at this rate it reaches {} on {}", to_printable(found.exhaustion->limit),
                              format_date(*concern.runs_out_ms, options.zone));
  if (*in_ms <= kSoonMs) concern.tone = Tone::problem;
  return concern;
}

}  // namespace

Status load_leaks(const Context& context, DaySummary& summary) {
  const LeakSettings settings = TRY(leak_settings(context.options, summary.warnings));
  const std::int64_t to_ms = summary.day.end_ms - 1;
  const Range range{std::max(context.file.first_tick_ms, to_ms - kLeakHistoryMs),
                    std::min(context.file.last_tick_ms, to_ms)};
  LiveLeaks live = TRY(judge_live_leaks(context, range, settings));
  summary.leak_counts = live.counts;
  std::vector<LeakRow>& rows = live.rows;
  rank_leaks(rows);
  for (const LeakRow& row : rows) {
    if (auto concern = concern_of(row, summary, settings, context.options))
      summary.attention.push_back(*std::move(concern));
  }
  summary.leaks = std::move(rows);
  return Done{};
}

Section leak_section(const DaySummary& summary, const Options& options) {
  const LeakCounts& counts = summary.leak_counts;
  const std::size_t shown = limited(options, summary.leaks.size(), kMaxLeaks);
  const std::vector<LeakRow> rows(summary.leaks.begin(), summary.leaks.begin() + static_cast<std::ptrdiff_t>(shown));
  Section section{"leaks", "Leaks in the last 30 days", table_of(rows, options), {}};
  if (counts.judged == 0) {
    section.notes.push_back("Too little history to judge" + format_lack(counts) + ".");
    return section;
  }
  if (shown < summary.leaks.size())
    note_left_out(section, fmt::format("{} of {}; memoir leaks shows all.", shown, summary.leaks.size()));
  section.notes.push_back(format_counts(counts) + ".");
  return section;
}

std::string leak_sentence(const DaySummary& summary, const Options& options) {
  if (summary.leaks.empty()) return "";
  const LeakRow& worst = summary.leaks.front();
  const std::string others = summary.leaks.size() == 1 ? "" : fmt::format(", and {} more", summary.leaks.size() - 1);
  return fmt::format(" {}: {}, {} a day{}.", worst.exited_ms ? "Leaked until it exited" : "Leaks",
                     to_printable(with_pid(what_of(worst), worst.pid)),
                     format_amount(worst.finding.slope_per_day.value, worst.metric.unit, options.units), others);
}

}  // namespace memoir::query
