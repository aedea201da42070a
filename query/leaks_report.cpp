#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "query/format.h"
#include "query/leaks.h"
#include "query/moment.h"
#include "query/terminal.h"
#include "query/times.h"

namespace memoir::query {

namespace {

Value number(double value) {
  return std::isfinite(value) ? Value(value) : Value();
}

std::string signed_amount(double value, LeakUnit unit, Units units) {
  return (value > 0 ? "+" : "") + print_amount(value, unit, units);
}

std::string between(const LeakRow& row, Units units) {
  const LeakInterval& slope = row.finding.slope_per_day;
  const LeakUnit unit = row.metric.unit;
  return fmt::format("{}, {}", print_amount(slope.lower, unit, units), print_amount(slope.upper, unit, units));
}

bool judged(const LeakFinding& found) {
  return !found.gates.empty();
}

Value earliest_and_latest(const LeakFinding& found) {
  if (!found.exhaustion || !found.exhaustion->in_ms) return {};
  const LeakInterval& in = *found.exhaustion->in_ms;
  const auto span = [](double ms) { return std::isfinite(ms) ? print_span(std::llround(ms)) : "never"; };
  return fmt::format("{}, {}", span(in.lower), span(in.upper));
}

Value limit_of(const LeakRow& row) {
  if (row.finding.exhaustion) return row.finding.exhaustion->limit;
  return row.limit.empty() ? Value() : Value(row.limit);
}

Value exhaustion(const LeakRow& row, double LeakInterval::*member) {
  const auto& exhaustion = row.finding.exhaustion;
  if (!exhaustion || !exhaustion->in_ms || !std::isfinite((*exhaustion->in_ms).*member)) return {};
  return std::llround((*exhaustion->in_ms).*member);
}

std::vector<ColumnOf<LeakRow>> people_columns(const Options& options) {
  const auto text = [](std::string header, int least_useful, std::function<Value(const LeakRow&)> get) {
    return ColumnOf<LeakRow>{{"", std::move(header), Kind::text, least_useful, Shown::people}, std::move(get)};
  };
  const Units units = options.units;
  return {
      text("PER DAY", 0,
           [units](const LeakRow& row) {
             const double slope = row.finding.slope_per_day.value;
             return judged(row.finding) ? Value(signed_amount(slope, row.metric.unit, units)) : Value();
           }),
      text("BETWEEN", 6,
           [units](const LeakRow& row) { return judged(row.finding) ? Value(between(row, units)) : Value(); }),
      text("SINCE", 2,
           [zone = options.zone](const LeakRow& row) {
             return judged(row.finding) ? Value(print_date(row.finding.since_ms, zone)) : Value();
           }),
      text("GROWN BY", 5,
           [units](const LeakRow& row) {
             return judged(row.finding) ? Value(signed_amount(row.finding.grown_by, row.metric.unit, units)) : Value();
           }),
      {{"", "CONF", Kind::count, 4, Shown::people},
       [](const LeakRow& row) {
         return row.finding.leak ? Value(static_cast<std::int64_t>(std::lround(row.finding.confidence))) : Value();
       }},
      text("RUNS OUT", 1, runs_out),
      text("EARLIEST, LATEST", 7, [](const LeakRow& row) { return earliest_and_latest(row.finding); }),
      text("LIMIT", 3, limit_of),
      text("SUBJECT", 0, [](const LeakRow& row) { return Value(row.title); }),
  };
}

}  // namespace

Value runs_out(const LeakRow& row) {
  const LeakFinding& found = row.finding;
  if (found.leak && row.ended_ms) return "ended";
  if (!found.exhaustion) return {};
  if (!found.exhaustion->in_ms) return fmt::format("> {}", print_span(10 * found.window_ms));
  if (found.exhaustion->in_ms->value < 1) return "now";
  return fmt::format("in {}", print_span(std::llround(found.exhaustion->in_ms->value)));
}

std::string print_amount(double value, LeakUnit unit, Units units) {
  if (unit == LeakUnit::kib) return print_size(std::llround(value), units);
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

LeakCounts count_leaks(const std::vector<LeakRow>& rows) {
  LeakCounts counts;
  for (const LeakRow& row : rows) {
    const bool insufficient = row.finding.verdict == LeakVerdict::insufficient;
    counts.insufficient += insufficient ? 1 : 0;
    if (insufficient) counts.longest_ms = std::max(counts.longest_ms, row.finding.recorded_ms);
    counts.needed_ms = row.finding.needed_ms;
    counts.judged += insufficient ? 0 : 1;
    counts.leaks += row.finding.leak ? 1 : 0;
    counts.ended += row.finding.leak && row.ended_ms ? 1 : 0;
  }
  return counts;
}

std::string print_lack(const LeakCounts& counts) {
  if (counts.insufficient == 0) return "";
  return fmt::format(": at most {}, where {} of one life are needed", print_span(counts.longest_ms),
                     print_span(counts.needed_ms));
}

std::string print_counts(const LeakCounts& counts) {
  std::string leaks = counts.leaks == 0 ? "none leaks" : print_count(counts.leaks, "leaks", "leak");
  if (counts.ended > 0) leaks += fmt::format(" ({} of them ended)", counts.ended);
  std::string others = counts.insufficient == 1 ? "1 has" : fmt::format("{} have", counts.insufficient);
  others += " too little history" + print_lack(counts);
  return fmt::format("{} judged, {}; {}", print_count(counts.judged, "series", "series"), leaks, others);
}

void keep_live_leaks(std::vector<LeakRow>& rows, Range range, const LeakSettings& settings) {
  constexpr std::int64_t hours = 25;
  std::erase_if(rows, [&](const LeakRow& row) {
    return !row.finding.leak || row.finding.until_ms + hours * settings.hour_ms < range.to_ms;
  });
}

std::vector<ColumnOf<LeakRow>> leak_numbers() {
  const auto finding = [](std::string name, Kind kind, std::function<Value(const LeakFinding&)> get) {
    return ColumnOf<LeakRow>{{std::move(name), "", kind, 0, Shown::machines},
                             [get = std::move(get)](const LeakRow& row) { return get(row.finding); }};
  };
  const auto slope = [&finding](std::string name, double LeakInterval::*member) {
    return finding(std::move(name), Kind::count, [member](const LeakFinding& found) {
      return judged(found) ? number(found.slope_per_day.*member) : Value();
    });
  };
  const auto time = [](std::string name, double LeakInterval::*member) {
    return ColumnOf<LeakRow>{{std::move(name), "", Kind::duration, 0, Shown::machines},
                             [member](const LeakRow& row) { return exhaustion(row, member); }};
  };
  return {
      finding("leak", Kind::text, [](const LeakFinding& found) { return Value(found.leak); }),
      slope("slope_kib_per_day", &LeakInterval::value),
      slope("slope_lower_kib_per_day", &LeakInterval::lower),
      slope("slope_upper_kib_per_day", &LeakInterval::upper),
      finding("since_ms", Kind::time,
              [](const LeakFinding& found) { return judged(found) ? Value(found.since_ms) : Value(); }),
      finding("until_ms", Kind::time,
              [](const LeakFinding& found) { return found.until_ms > 0 ? Value(found.until_ms) : Value(); }),
      finding("grown_kib", Kind::count,
              [](const LeakFinding& found) { return judged(found) ? number(found.grown_by) : Value(); }),
      finding("level_kib", Kind::count, [](const LeakFinding& found) { return number(found.level); }),
      finding("confidence", Kind::count, [](const LeakFinding& found) { return Value(std::round(found.confidence)); }),
      finding("confirmed", Kind::text, [](const LeakFinding& found) { return Value(found.confirmed); }),
      finding("history_ms", Kind::duration, [](const LeakFinding& found) { return Value(found.history_ms); }),
      finding("recorded_ms", Kind::duration, [](const LeakFinding& found) { return Value(found.recorded_ms); }),
      finding("needed_ms", Kind::duration, [](const LeakFinding& found) { return Value(found.needed_ms); }),
      finding("window_ms", Kind::duration,
              [](const LeakFinding& found) { return judged(found) ? Value(found.window_ms) : Value(); }),
      finding("lives", Kind::count, [](const LeakFinding& found) { return Value(found.lives); }),
      {{"ended_ms", "", Kind::time, 0, Shown::machines}, [](const LeakRow& row) { return maybe(row.ended_ms); }},
      {{"limit", "", Kind::text, 0, Shown::machines}, limit_of},
      finding("limit_room_kib", Kind::count,
              [](const LeakFinding& found) { return found.exhaustion ? number(found.exhaustion->room) : Value(); }),
      time("runs_out_in_ms", &LeakInterval::value),
      time("runs_out_earliest_in_ms", &LeakInterval::lower),
      time("runs_out_latest_in_ms", &LeakInterval::upper),
  };
}

void rank_leaks(std::vector<LeakRow>& rows) {
  const auto soonest = [](const LeakRow& row) {
    const auto& exhaustion = row.finding.exhaustion;
    return exhaustion && exhaustion->in_ms ? exhaustion->in_ms->value : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(rows.begin(), rows.end(), [&soonest](const LeakRow& a, const LeakRow& b) {
    if (a.finding.leak != b.finding.leak) return a.finding.leak;
    if (a.ended_ms.has_value() != b.ended_ms.has_value()) return b.ended_ms.has_value();
    if (soonest(a) != soonest(b)) return soonest(a) < soonest(b);
    return a.finding.slope_per_day.value > b.finding.slope_per_day.value;
  });
}

Table leak_table(const std::vector<LeakRow>& rows, const Options& options) {
  std::vector<ColumnOf<LeakRow>> columns{
      {{"subject", "", Kind::text, 0, Shown::machines}, [](const LeakRow& row) { return Value(row.subject); }},
      {{"title", "", Kind::text, 0, Shown::machines}, [](const LeakRow& row) { return Value(row.title); }},
      {{"unit", "", Kind::text, 0, Shown::machines},
       [](const LeakRow& row) { return row.unit.empty() ? Value() : Value(row.unit); }},
      {{"pid", "PID", Kind::count, 3}, [](const LeakRow& row) { return maybe(row.pid); }},
      {{"metric", "OF", Kind::text, 0}, [](const LeakRow& row) { return Value(row.metric.name); }},
      {{"verdict", "VERDICT"}, [](const LeakRow& row) { return Value(std::string(to_string(row.finding.verdict))); }},
  };
  for (auto& column : leak_numbers()) columns.push_back(std::move(column));
  for (auto& column : people_columns(options)) columns.push_back(std::move(column));
  columns.push_back({{"reason", "REASON", Kind::sentence, options.all ? 0 : 9, Shown::everywhere, true},
                     [](const LeakRow& row) { return Value(row.finding.reason); }});
  Table table = make_table<LeakRow>(columns, rows, [](const LeakRow& row) {
    const auto& exhaustion = row.finding.exhaustion;
    const bool soon = exhaustion && exhaustion->in_ms && exhaustion->in_ms->value < static_cast<double>(kDayMs);
    return !row.finding.leak ? Tone::plain : soon ? Tone::problem : Tone::warning;
  });
  for (const char* name : {"RUNS OUT", "runs_out_in_ms"}) mark_sorted(table, name);
  return table;
}

}  // namespace memoir::query
