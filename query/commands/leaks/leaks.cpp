// memoir leaks: leaking subjects, with rate, start, confidence and the time until a limit.

#include "query/commands/leaks/leaks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/nearest.h"
#include "base/text.h"
#include "query/args/times.h"
#include "query/names/name_lookup.h"
#include "query/render/shell_text.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/moment.h"

namespace memoir::query {

namespace {

constexpr std::string_view kMachine = "machine";

Value earliest_and_latest(const LeakFinding& found) {
  if (!found.exhaustion || !found.exhaustion->in_ms) return {};
  const LeakInterval& in = *found.exhaustion->in_ms;
  const auto span = [](double ms) { return std::isfinite(ms) ? format_span(std::llround(ms)) : "never"; };
  return fmt::format("{}, {}", span(in.lower), span(in.upper));
}

void add_display_columns(Columns<LeakRow>& columns, const Options& options) {
  add_slope(columns, options, 6);
  columns.add(display_column("GROWN BY", Kind::text, 5), [units = options.units](const LeakRow& row) {
    return is_judged(row.finding) ? signed_amount(row.finding.grown_by, row.metric.unit, units) : Value();
  });
  add_outlook(columns);
  columns.add(display_column("EARLIEST, LATEST", Kind::text, 7),
              [](const LeakRow& row) { return earliest_and_latest(row.finding); });
  columns.add(display_column("LIMIT", Kind::text, 3), limit_of);
  columns.add(display_column("SUBJECT"), &LeakRow::title);
}

Table leak_table(const std::vector<LeakRow>& rows, const Options& options) {
  Columns<LeakRow> columns{
      {data_column("subject"), &LeakRow::subject},
      {data_column("title"), &LeakRow::title},
      {data_column("unit"), [](const LeakRow& row) { return row.unit.empty() ? Value() : row.unit; }},
      {{"pid", "PID", Kind::count, 3}, &LeakRow::pid},
      {{"metric", "OF", Kind::text, 1}, [](const LeakRow& row) { return row.metric.name; }},
      {{"verdict", "VERDICT"}, [](const LeakRow& row) { return to_string(row.finding.verdict); }},
  };
  for (auto& column : leak_numbers()) columns.push_back(std::move(column));
  add_display_columns(columns, options);
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

// Makes the numbers of a single row members of the answer itself, so that a script need not search the rows.
void add_facts(const LeakRow& row, Report& report) {
  const LeakFinding& found = row.finding;
  const bool judged = !found.gates.empty();
  report.facts.push_back({"verdict", "Verdict", Kind::text, std::string(to_string(found.verdict))});
  report.facts.push_back({"leak", "", Kind::text, found.leak});
  report.facts.push_back({"reason", "Reason", Kind::sentence, found.reason});
  report.facts.push_back({"slope_kib_per_day", "", Kind::count, judged ? found.slope_per_day.value : Value()});
  report.facts.push_back(
      {"slope_interval_kib_per_day", "", Kind::count,
       judged ? std::vector<double>{found.slope_per_day.lower, found.slope_per_day.upper} : Value()});
  const std::optional<LeakInterval> in_ms = found.exhaustion ? found.exhaustion->in_ms : std::nullopt;
  report.facts.push_back({"runs_out_in_ms", "", Kind::duration, in_ms ? std::llround(in_ms->value) : Value()});
  report.facts.push_back(
      {"runs_out_interval_ms", "", Kind::count, in_ms ? std::vector<double>{in_ms->lower, in_ms->upper} : Value()});
  report.facts.push_back({"confidence", "", Kind::count, std::round(found.confidence)});
  report.facts.push_back({"confirmed", "", Kind::text, found.confirmed});
}

Result<Report> run_csv(const Options& options, std::int64_t /*now_ms*/) {
  Report report;
  const LeakSettings settings = TRY(leak_settings(options, report.warnings));
  if (!options.subjects.empty()) return malformed("leaks --csv judges the file, and takes no subject");
  if (options.from || options.to || options.last || options.day) {
    return malformed("leaks --csv judges the whole file, and takes no range");
  }
  std::vector<LeakRow> rows;
  for (const std::string& path : options.csv)
    rows.push_back(TRY(judge_csv(path, settings, options.series_limit, report.warnings)));
  report.nothing_recorded = std::ranges::all_of(rows, [](const LeakRow& row) { return row.series.buckets.empty(); });
  if (rows.size() == 1) {
    add_facts(rows.front(), report);
    explain_leak(rows.front(), options, terminal_screen(), report);
  }
  report.rows = leak_table(rows, options);
  return report;
}

bool is_called(const LeakRow& row, const std::string& subject) {
  const auto pid = parse_number<std::int32_t>(subject);
  return (pid && std::ranges::find(row.pids, *pid) != row.pids.end()) || row.subject == subject ||
         row.title == subject || row.unit == subject || row.metric.name == subject;
}

// Keeps the rows with exactly this subject; without such rows, those with a subject that matches in part.
Status keep_subject(std::vector<LeakRow>& rows, const std::string& subject) {
  const std::vector<std::string> names = transformed(rows, &LeakRow::subject);
  const bool called = std::ranges::any_of(rows, [&](const LeakRow& row) { return is_called(row, subject); });
  std::erase_if(rows, [&](const LeakRow& row) {
    return !(called ? is_called(row, subject)
                    : row.subject.find(subject) != std::string::npos || row.title.find(subject) != std::string::npos);
  });
  if (!rows.empty()) return Done{};
  return Error{ErrorKind::not_found, fmt::format("nothing in this range is called '{}'{} (part of a command, a unit, a "
                                                 "pid, machine; memoir leaks --all lists them)",
                                                 to_printable(subject), did_you_mean(subject, names))};
}

// Returns an error if several subjects match: only one verdict is explained. For an identity, the explained verdict is
// the worst of its series. Series of the machine are selected by name.
std::optional<Error> several(const Context& context, const std::vector<LeakRow>& rows) {
  const bool machine = rows.front().subject == kMachine;
  const bool one = std::all_of(rows.begin(), rows.end(), [&rows](const LeakRow& row) {
    return row.subject == rows.front().subject && row.pids == rows.front().pids;
  });
  if (rows.size() == 1 || (one && !machine)) return std::nullopt;
  const auto now = [&context](const LeakRow& row) {
    return row.series.buckets.empty()
               ? Value()
               : format_amount(row.series.buckets.back().mean, row.metric.unit, context.options.units);
  };
  const Columns<LeakRow> columns{
      {{"", "AT END", Kind::text}, now},
      {{"", "VERDICT", Kind::text}, [](const LeakRow& row) { return to_string(row.finding.verdict); }},
      {{"", "A PID", Kind::count},
       [](const LeakRow& row) { return row.pids.empty() ? Value() : std::int64_t{row.pids.back()}; }},
      {{"", "SUBJECT", Kind::text},
       [](const LeakRow& row) { return shell_word(row.subject == kMachine ? row.metric.name : row.subject); }},
  };
  return ambiguous(context, context.options.subjects.front(), make_table(columns, rows));
}

Result<Report> run_leaks(const Context& context) {
  const Options& options = context.options;
  std::vector<std::string> warnings;
  const LeakSettings settings = TRY(leak_settings(options, warnings));
  const bool asked = !options.subjects.empty();
  if (options.explain && !asked) return malformed("leaks --explain needs a subject: memoir leaks --explain SUBJECT");
  const Range range =
      range_or_last(context.when, {context.file.first_tick_ms, context.file.last_tick_ms}, kLeakHistoryMs);
  Report report = TRY(begin_range_report(context, range));
  if (report.nothing_recorded) return report;
  report.title = "leaks";
  report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
  JudgedLeaks judged = TRY(judge_store(context, range, settings));
  std::vector<LeakRow>& rows = judged.rows;
  if (asked) TRY(keep_subject(rows, options.subjects.front()));
  const LeakCounts counts = count_leaks(judged);
  report.totals = {{"judged", "", Kind::count, counts.judged},
                   {"leaks", "", Kind::count, counts.leaks},
                   {"ended", "", Kind::count, counts.ended},
                   {"insufficient", "", Kind::count, counts.insufficient},
                   {"brief", "", Kind::count, counts.brief}};
  report.notes.push_back(format_counts(counts) + (options.all ? "." : " (--all lists all of them, with the reasons)."));
  if (!asked && !options.all) keep_live_leaks(rows, range, settings);
  rank_leaks(rows);
  if (options.explain) {
    if (const auto error = several(context, rows)) return *error;
    add_facts(rows.front(), report);
    explain_leak(rows.front(), options, context.screen, report);
  }
  const auto grown = [](const LeakRow& row) {
    return row.metric.unit == LeakUnit::kib ? std::optional(std::llround(row.finding.grown_by)) : std::nullopt;
  };
  limit_rows(rows, report, context, grown, {.of = "growth", .adds_up = false});
  report.rows = leak_table(rows, options);
  return report;
}

}  // namespace

Command leaks_command() {
  return {.name = "leaks",
          .summary = "leak verdicts, growth per day, time to limit",
          .subject = "[SUBJECT]",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::limit, Option::all, Option::csv,
                      Option::limit_kib, Option::explain, Option::hour, Option::config, Option::ascii},
          .examples = {{"memoir leaks --last 14d", "leaks of two weeks, the first to reach a limit at the top"},
                       {"memoir leaks --csv rss.csv --explain", "the same judgement on a series from elsewhere"},
                       {"memoir leaks --csv rss.csv --limit 8GiB", "and when it reaches 8 GiB"}},
          .run = run_leaks,
          .subject_help =
              "SUBJECT: a command or a part of it, a unit, a pid, machine, or one of the machine's series "
              "(slab-unreclaimable); by default all that leak",
          .run_alone = run_csv};
}

}  // namespace memoir::query
