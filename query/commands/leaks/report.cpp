#include <cmath>
#include <fmt/format.h>

#include "query/ask/times.h"
#include "query/commands/leaks/leaks.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

Value earliest_and_latest(const LeakFinding& found) {
  if (!found.exhaustion || !found.exhaustion->in_ms) return {};
  const LeakInterval& in = *found.exhaustion->in_ms;
  const auto span = [](double ms) { return std::isfinite(ms) ? print_span(std::llround(ms)) : "never"; };
  return fmt::format("{}, {}", span(in.lower), span(in.upper));
}

void add_people_columns(Columns<LeakRow>& columns, const Options& options) {
  add_slope(columns, options, 6);
  columns.add(for_people("GROWN BY", Kind::text, 5), [units = options.units](const LeakRow& row) {
    return is_judged(row.finding) ? signed_amount(row.finding.grown_by, row.metric.unit, units) : Value();
  });
  add_outlook(columns);
  columns.add(for_people("EARLIEST, LATEST", Kind::text, 7),
              [](const LeakRow& row) { return earliest_and_latest(row.finding); });
  columns.add(for_people("LIMIT", Kind::text, 3), limit_of);
  columns.add(for_people("SUBJECT"), &LeakRow::title);
}

}  // namespace

Table leak_table(const std::vector<LeakRow>& rows, const Options& options) {
  Columns<LeakRow> columns{
      {for_machines("subject"), &LeakRow::subject},
      {for_machines("title"), &LeakRow::title},
      {for_machines("unit"), [](const LeakRow& row) { return row.unit.empty() ? Value() : row.unit; }},
      {{"pid", "PID", Kind::count, 3}, &LeakRow::pid},
      {{"metric", "OF", Kind::text, 0}, [](const LeakRow& row) { return row.metric.name; }},
      {{"verdict", "VERDICT"}, [](const LeakRow& row) { return to_string(row.finding.verdict); }},
  };
  for (auto& column : leak_numbers()) columns.push_back(std::move(column));
  add_people_columns(columns, options);
  columns.add({"reason", "REASON", Kind::sentence, options.all ? 0 : 9, Shown::everywhere, true},
              [](const LeakRow& row) { return row.finding.reason; });
  Table table = make_table<LeakRow>(columns, rows, [](const LeakRow& row) {
    const auto& exhaustion = row.finding.exhaustion;
    const bool soon = exhaustion && exhaustion->in_ms && exhaustion->in_ms->value < static_cast<double>(kDayMs);
    return !row.finding.leak ? Tone::plain : soon ? Tone::problem : Tone::warning;
  });
  for (const char* name : {"RUNS OUT", "runs_out_in_ms"}) mark_sorted(table, name);
  return table;
}

}  // namespace memoir::query
