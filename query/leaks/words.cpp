#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "query/leaks/judged_leaks.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

Value number(double value) {
  return std::isfinite(value) ? value : Value();
}

Value exhaustion(const LeakRow& row, double LeakInterval::*member) {
  const auto& exhaustion = row.finding.exhaustion;
  if (!exhaustion || !exhaustion->in_ms || !std::isfinite((*exhaustion->in_ms).*member)) return {};
  return std::llround((*exhaustion->in_ms).*member);
}

// Returns when the nearest limit is reached: "in 5 d", "> 300 d" (ten times the observed time), "now". Returns "ended"
// if the processes of a leak have exited, and null if there is no limit.
Value runs_out(const LeakRow& row) {
  const LeakFinding& found = row.finding;
  if (found.leak && row.exited_ms) return "ended";
  if (!found.exhaustion) return {};
  if (!found.exhaustion->in_ms) return fmt::format("> {}", format_span(10 * found.window_ms));
  if (found.exhaustion->in_ms->value < 1) return "now";
  return fmt::format("in {}", format_span(std::llround(found.exhaustion->in_ms->value)));
}

}  // namespace

bool is_judged(const LeakFinding& found) {
  return !found.gates.empty();
}

Value limit_of(const LeakRow& row) {
  if (row.finding.exhaustion) return row.finding.exhaustion->limit;
  return row.limit.empty() ? Value() : row.limit;
}

std::string format_amount(double value, LeakUnit unit, Units units) {
  if (unit == LeakUnit::kib) return format_size(std::llround(value), units);
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string signed_amount(double value, LeakUnit unit, Units units) {
  return (value > 0 ? "+" : "") + format_amount(value, unit, units);
}

LeakCounts count_leaks(const JudgedLeaks& judged) {
  LeakCounts counts{.brief = judged.brief};
  for (const LeakRow& row : judged.rows) {
    const bool insufficient = row.finding.verdict == LeakVerdict::insufficient;
    counts.insufficient += insufficient ? 1 : 0;
    if (insufficient) counts.longest_ms = std::max(counts.longest_ms, row.finding.recorded_ms);
    counts.needed_ms = row.finding.needed_ms;
    counts.judged += insufficient ? 0 : 1;
    counts.leaks += row.finding.leak ? 1 : 0;
    counts.ended += row.finding.leak && row.exited_ms ? 1 : 0;
  }
  return counts;
}

std::string format_lack(const LeakCounts& counts) {
  if (counts.insufficient == 0) return "";
  return fmt::format(": at most {}, where {} of one run are needed", format_span(counts.longest_ms),
                     format_span(counts.needed_ms));
}

std::string format_counts(const LeakCounts& counts) {
  std::string leaks = counts.leaks == 0 ? "none leaks" : format_count(counts.leaks, "leaks", "leak");
  if (counts.ended > 0) leaks += fmt::format(" ({} of them ended)", counts.ended);
  std::string others = counts.insufficient == 1 ? "1 has" : fmt::format("{} have", counts.insufficient);
  others += " too little history" + format_lack(counts);
  if (counts.brief > 0)
    others += fmt::format("; {} that ran for less than 10 min {} left out",
                          format_count(counts.brief, "program", "programs"), counts.brief == 1 ? "is" : "are");
  return fmt::format("{} judged, {}; {}", format_count(counts.judged, "series", "series"), leaks, others);
}

void keep_live_leaks(std::vector<LeakRow>& rows, Range range, const LeakSettings& settings) {
  constexpr std::int64_t hours = 25;
  std::erase_if(rows, [&](const LeakRow& row) {
    return !row.finding.leak || row.finding.until_ms + hours * settings.hour_ms < range.to_ms;
  });
}

Columns<LeakRow> leak_numbers() {
  const auto finding = [](std::string name, Kind kind, std::function<Value(const LeakFinding&)> get) {
    return ColumnOf<LeakRow>{{std::move(name), "", kind, 0, Shown::machines},
                             [get = std::move(get)](const LeakRow& row) { return get(row.finding); }};
  };
  const auto slope = [&finding](std::string name, double LeakInterval::*member) {
    return finding(std::move(name), Kind::count, [member](const LeakFinding& found) {
      return is_judged(found) ? number(found.slope_per_day.*member) : Value();
    });
  };
  const auto time = [](std::string name, double LeakInterval::*member) {
    return ColumnOf<LeakRow>{data_column(std::move(name), Kind::duration),
                             [member](const LeakRow& row) { return exhaustion(row, member); }};
  };
  return {
      finding("leak", Kind::text, &LeakFinding::leak),
      slope("slope_kib_per_day", &LeakInterval::value),
      slope("slope_lower_kib_per_day", &LeakInterval::lower),
      slope("slope_upper_kib_per_day", &LeakInterval::upper),
      finding("since_ms", Kind::time,
              [](const LeakFinding& found) { return is_judged(found) ? found.since_ms : Value(); }),
      finding("until_ms", Kind::time,
              [](const LeakFinding& found) { return found.until_ms > 0 ? found.until_ms : Value(); }),
      finding("grown_kib", Kind::count,
              [](const LeakFinding& found) { return is_judged(found) ? number(found.grown_by) : Value(); }),
      finding("level_kib", Kind::count, [](const LeakFinding& found) { return number(found.level); }),
      finding("confidence", Kind::count, [](const LeakFinding& found) { return std::round(found.confidence); }),
      finding("right_of_100", Kind::count,
              [](const LeakFinding& found) { return found.worth ? found.worth->right : Value(); }),
      finding("confirmed", Kind::text, &LeakFinding::confirmed),
      finding("history_ms", Kind::duration, &LeakFinding::history_ms),
      finding("recorded_ms", Kind::duration, &LeakFinding::recorded_ms),
      finding("needed_ms", Kind::duration, &LeakFinding::needed_ms),
      finding("window_ms", Kind::duration,
              [](const LeakFinding& found) { return is_judged(found) ? found.window_ms : Value(); }),
      finding("lives", Kind::count, &LeakFinding::lives),
      {data_column("ended_ms", Kind::time), &LeakRow::exited_ms},
      {data_column("limit"), limit_of},
      finding("limit_room_kib", Kind::count,
              [](const LeakFinding& found) { return found.exhaustion ? number(found.exhaustion->room) : Value(); }),
      time("runs_out_in_ms", &LeakInterval::value),
      time("runs_out_earliest_in_ms", &LeakInterval::lower),
      time("runs_out_latest_in_ms", &LeakInterval::upper),
      finding("accelerates", Kind::text,
              [](const LeakFinding& found) { return found.exhaustion ? found.exhaustion->accelerates : Value(); }),
  };
}

void add_slope(Columns<LeakRow>& columns, const Options& options, int drop_order_between) {
  const auto add = [&columns](const char* header, int drop_order, std::function<std::string(const LeakRow&)> text) {
    columns.add(display_column(header, Kind::text, drop_order),
                [text = std::move(text)](const LeakRow& row) { return is_judged(row.finding) ? text(row) : Value(); });
  };
  const Units units = options.units;
  add("PER DAY", 0,
      [units](const LeakRow& row) { return signed_amount(row.finding.slope_per_day.value, row.metric.unit, units); });
  add("BETWEEN", drop_order_between, [units](const LeakRow& row) {
    const LeakInterval& slope = row.finding.slope_per_day;
    const LeakUnit unit = row.metric.unit;
    return fmt::format("{}, {}", format_amount(slope.lower, unit, units), format_amount(slope.upper, unit, units));
  });
  add("SINCE", 2, [zone = options.zone](const LeakRow& row) { return format_date(row.finding.since_ms, zone); });
}

void add_outlook(Columns<LeakRow>& columns) {
  columns.add(display_column("RIGHT", Kind::text, 4), [](const LeakRow& row) {
    return row.finding.worth ? fmt::format("{}%", row.finding.worth->right) : Value();
  });
  columns.add(display_column("RUNS OUT", Kind::text, 1), runs_out);
}

void rank_leaks(std::vector<LeakRow>& rows) {
  const auto soonest = [](const LeakRow& row) {
    const auto& exhaustion = row.finding.exhaustion;
    return exhaustion && exhaustion->in_ms ? exhaustion->in_ms->value : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(rows.begin(), rows.end(), [&soonest](const LeakRow& a, const LeakRow& b) {
    if (a.finding.leak != b.finding.leak) return a.finding.leak;
    if (a.exited_ms.has_value() != b.exited_ms.has_value()) return b.exited_ms.has_value();
    if (soonest(a) != soonest(b)) return soonest(a) < soonest(b);
    return a.finding.slope_per_day.value > b.finding.slope_per_day.value;
  });
}

}  // namespace memoir::query
