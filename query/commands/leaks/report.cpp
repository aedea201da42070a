#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "query/answer/moment.h"
#include "query/ask/times.h"
#include "query/commands/leaks/leaks.h"
#include "query/render/terminal.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

std::string signed_amount(double value, LeakUnit unit, Units units) {
  return (value > 0 ? "+" : "") + print_amount(value, unit, units);
}

std::string between(const LeakRow& row, Units units) {
  const LeakInterval& slope = row.finding.slope_per_day;
  const LeakUnit unit = row.metric.unit;
  return fmt::format("{}, {}", print_amount(slope.lower, unit, units), print_amount(slope.upper, unit, units));
}

Value earliest_and_latest(const LeakFinding& found) {
  if (!found.exhaustion || !found.exhaustion->in_ms) return {};
  const LeakInterval& in = *found.exhaustion->in_ms;
  const auto span = [](double ms) { return std::isfinite(ms) ? print_span(std::llround(ms)) : "never"; };
  return fmt::format("{}, {}", span(in.lower), span(in.upper));
}

Columns<LeakRow> people_columns(const Options& options) {
  const auto text = [](std::string header, int least_useful, std::function<Value(const LeakRow&)> get) {
    return ColumnOf<LeakRow>{for_people(std::move(header), Kind::text, least_useful), std::move(get)};
  };
  const Units units = options.units;
  return {
      text("PER DAY", 0,
           [units](const LeakRow& row) {
             const double slope = row.finding.slope_per_day.value;
             return is_judged(row.finding) ? signed_amount(slope, row.metric.unit, units) : Value();
           }),
      text("BETWEEN", 6,
           [units](const LeakRow& row) { return is_judged(row.finding) ? between(row, units) : Value(); }),
      text("SINCE", 2,
           [zone = options.zone](const LeakRow& row) {
             return is_judged(row.finding) ? print_date(row.finding.since_ms, zone) : Value();
           }),
      text("GROWN BY", 5,
           [units](const LeakRow& row) {
             return is_judged(row.finding) ? signed_amount(row.finding.grown_by, row.metric.unit, units) : Value();
           }),
      {for_people("CONF", Kind::count, 4),
       [](const LeakRow& row) {
         return row.finding.leak ? static_cast<std::int64_t>(std::lround(row.finding.confidence)) : Value();
       }},
      text("RUNS OUT", 1, runs_out),
      text("EARLIEST, LATEST", 7, [](const LeakRow& row) { return earliest_and_latest(row.finding); }),
      text("LIMIT", 3, limit_of),
      text("SUBJECT", 0, &LeakRow::title),
  };
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
  for (auto& column : people_columns(options)) columns.push_back(std::move(column));
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
