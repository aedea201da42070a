// Who leaks, by the end of the day.

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/state/limit.h"
#include "query/state/process_columns.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMostLeaks = 10;

std::string what_of(const LeakRow& row) {
  return row.metric.name == LeakMetric().name ? row.title : fmt::format("{} ({})", row.title, row.metric.name);
}

// Narrower than that of memoir leaks, and the same for machines.
Table table_of(const std::vector<LeakRow>& rows, const Options& options) {
  Columns<LeakRow> columns;
  columns.add(for_machines("subject"), &LeakRow::subject);
  columns.add(for_machines("title"), &LeakRow::title);
  columns.add(for_machines("unit"), [](const LeakRow& row) { return row.unit.empty() ? Value() : row.unit; });
  columns.add(for_machines("metric"), [](const LeakRow& row) { return row.metric.name; });
  columns.add(for_machines("verdict"), [](const LeakRow& row) { return to_string(row.finding.verdict); });
  for (auto& column : leak_numbers()) columns.push_back(std::move(column));
  columns.add(for_machines("reason"), [](const LeakRow& row) { return row.finding.reason; });
  add_slope(columns, options, 3);
  add_outlook(columns);
  columns.add({"pid", "PID", Kind::count, 5}, &LeakRow::pid);
  columns.add(for_people("WHAT"), [](const LeakRow& row) { return what_of(row); });
  return make_table(columns, rows);
}

}  // namespace

Status load_leaks(const Context& context, DaySummary& summary) {
  const LeakSettings settings = TRY(leak_settings(context.options, summary.warnings));
  const std::int64_t to_ms = summary.day.end_ms - 1;
  const Range range{std::max(context.file.first_tick_ms, to_ms - kLeakHistoryMs),
                    std::min(context.file.last_tick_ms, to_ms)};
  std::vector<LeakRow> rows = TRY(judge_store(context, range, settings));
  summary.leak_counts = count_leaks(rows);
  keep_live_leaks(rows, range, settings);
  rank_leaks(rows);
  summary.leaks = std::move(rows);
  return Done{};
}

Section leak_section(const DaySummary& summary, const Options& options) {
  const LeakCounts& counts = summary.leak_counts;
  const std::size_t shown = limited(options, summary.leaks.size(), kMostLeaks);
  const std::vector<LeakRow> rows(summary.leaks.begin(), summary.leaks.begin() + static_cast<std::ptrdiff_t>(shown));
  Section section{"leaks", "Leaks, by the 30 days until then", table_of(rows, options), {}};
  if (counts.judged == 0) {
    section.notes.push_back("There is too little history to judge anything" + print_lack(counts) + ".");
    return section;
  }
  if (shown < summary.leaks.size())
    note_left_out(section, fmt::format("{} of {}; memoir leaks shows all.", shown, summary.leaks.size()));
  section.notes.push_back(print_counts(counts) + ".");
  return section;
}

std::string leak_sentence(const DaySummary& summary, const Options& options) {
  if (summary.leaks.empty()) return "";
  const LeakRow& worst = summary.leaks.front();
  const std::string others = summary.leaks.size() == 1 ? "" : fmt::format(", the first of {}", summary.leaks.size());
  return fmt::format(" {}: {}, {} a day{}.", worst.ended_ms ? "Leaked until it ended" : "Leaks",
                     to_printable(with_pid(what_of(worst), worst.pid)),
                     print_amount(worst.finding.slope_per_day.value, worst.metric.unit, options.units), others);
}

}  // namespace memoir::query
