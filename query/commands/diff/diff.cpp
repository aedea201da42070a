// memoir diff: what changed between two times, and where the sum went.

#include "query/commands/diff/diff.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "query/args/times.h"
#include "query/state/filter_values.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

// Who came and went is counted from the rows of all who lived: over more ticks than that (two days at 10 s) they are
// too many for one line of the answer.
constexpr std::int64_t kMostTicksToCountIn = 20'000;

Result<Range> times_asked(const Context& context) {
  const Options& options = context.options;
  if (options.subjects.empty()) {
    return range_or_last(context.when, {context.file.first_tick_ms, context.file.last_tick_ms}, kDayMs);
  }
  if (context.when.range) {
    return malformed("T1 and T2 are the two times: they cannot go with --from, --to, --last or --day");
  }
  const std::int64_t last_ms = context.file.ticks > 0 ? context.file.last_tick_ms : context.now_ms;
  Range range{0, last_ms};
  for (std::size_t i = 0; i < options.subjects.size(); ++i) {
    const std::string& text = options.subjects[i];
    // As --last does.
    const bool counts_back = text.starts_with('-') || text.ends_with(" ago");
    const Result<std::int64_t> time =
        (i == 0 ? parse_time : parse_end)(text, counts_back ? last_ms : context.now_ms, options.zone);
    if (!time) return malformed(fmt::format("T{}: {}", i + 1, time.error().message));
    (i == 0 ? range.from_ms : range.to_ms) = *time;
  }
  if (range.from_ms <= last_ms) range.to_ms = std::min(range.to_ms, std::max(context.now_ms, last_ms));
  if (range.from_ms > range.to_ms) {
    return malformed(fmt::format("T1 ({}) is after T2 ({}): give the earlier time first",
                                 print_time(range.from_ms, options.zone), print_time(range.to_ms, options.zone)));
  }
  return range;
}

Result<DiffQuestion> ask(const Context& context) {
  DiffQuestion question;
  question.range = TRY(times_asked(context));
  question.group = context.options.group.value_or("process");
  question.by = parse_metric(context.options.by.value_or("pss")).value_or(Metric::pss);
  return question;
}

// Fills all but in_between from the two states.
Status compare(Reader& reader, const DiffQuestion& question, Diff& diff) {
  const Metric by = question.by;
  Changes rows(question.group);
  Change others;
  for (const State* state : {&diff.before, &diff.after}) {
    const bool after = state == &diff.after;
    TRY(rows.add(reader, question.filter, *state, after));
    for (const HeldProcess& process : state->processes) {
      const bool chosen = question.filter.matches(*process.process);
      Tally& sum = chosen ? (after ? diff.is : diff.was) : (after ? others.is : others.was);
      add_to(sum, process);
    }
  }
  if (!group_kind(question.group) || !question.filter.takes_all()) {
    diff.short_lived_kib = short_lived_kib(diff.after, by).value_or(0) - short_lived_kib(diff.before, by).value_or(0);
  }
  diff.others_kib = others.change_kib(by);
  diff.rows = rows.take();
  diff.unchanged =
      static_cast<std::int64_t>(std::erase_if(diff.rows, [by](const Change& row) { return row.what(by) == "same"; }));
  std::ranges::stable_sort(diff.rows, std::greater(), [by](const Change& row) { return std::abs(row.change_kib(by)); });
  const auto parts = machine_parts_of({&diff.before, &diff.after});
  diff.parts_before = parts[0];
  diff.parts_after = parts[1];
  return Done{};
}

void warn_of_times(const Context& context, const DiffQuestion& question, const Diff& diff, Report& report) {
  const Zone zone = context.options.zone;
  const std::int64_t first_ms = diff.before.at_ms;
  if (first_ms > question.range.from_ms) {
    report.warnings.push_back(fmt::format("nothing was recorded at {} yet: compared with the first tick, {}",
                                          print_time(question.range.from_ms, zone), print_time(first_ms, zone)));
  }
  if (const auto warning = stale_warning(diff.before, question.range.from_ms, zone)) {
    report.warnings.push_back("before: " + *warning);
  }
  if (const auto warning = stale_warning(diff.after, question.range.to_ms, zone)) {
    report.warnings.push_back("after: " + *warning);
  }
  if (is_same(diff.before, diff.after)) {
    report.warnings.push_back(fmt::format("both times are answered from the same {}: there is nothing to compare",
                                          means_over(diff.after) ? "bucket" : "tick"));
  }
}

Status count_in_between(const Context& context, Report& report, Diff& diff) {
  if (report.coverage->ticks > kMostTicksToCountIn) return Done{};
  const Range span{diff.before.at_ms, diff.after.at_ms};
  const std::vector<StoredProcess> processes = TRY(load_processes(context.reader, span));
  diff.in_between = std::ranges::count_if(processes, [&span](const StoredProcess& process) {
    return process.first_ms > span.from_ms && process.gone_ms && *process.gone_ms <= span.to_ms;
  });
  return Done{};
}

Result<Report> run_diff(const Context& context) {
  DiffQuestion question = TRY(ask(context));
  const Range range = question.range;
  std::optional<RangeEnds> ends = TRY(load_ends(context, range));
  if (!ends) {
    Report report = nothing_recorded(context, diff_columns(question));
    report.range = range;
    return report;
  }
  Diff diff;
  diff.before = std::move(ends->begin);
  diff.after = std::move(ends->end);
  question.filter = TRY(filter_at(context.options, {&diff.before, &diff.after}));
  TRY(compare(context.reader, question, diff));

  Report report;
  report.range = range;
  report.coverage = TRY(context.reader.coverage(range));
  TRY(count_in_between(context, report, diff));
  fill_diff(context, question, diff, report);
  note_filter(question.filter, "of the two times", report);
  warn_of_times(context, question, diff, report);
  return report;
}

}  // namespace

Command diff_command() {
  return {
      .name = "diff",
      .summary = "what changed between two times: new, gone, grown, shrunk; and where the machine's memory went",
      .subject = "[T1 [T2]]",
      .options = {Option::from, Option::to, Option::last, Option::day, Option::by, Option::group, Option::filter,
                  Option::tier, Option::limit},
      .by = names_of(metrics_with(
          [](const MetricInfo& info) { return info.kinds.contains(SubjectKind::process) && info.adds_up; })),
      .groups = process_groups(),
      .examples = {{"memoir diff 02:00 03:14", "what changed between two and a quarter past three"},
                   {"memoir diff --day yesterday --group category", "by category, from yesterday's begin to its end"},
                   {"memoir diff -2h", "what changed in the last two hours before the last tick"}},
      .run = run_diff,
      .subject_help =
          "T1, T2: the two times; T2 is by default the last tick, and one that is still to come means now. -2h counts "
          "back from the last tick, as --last does. Or give a range: its begin and its end are compared (by default "
          "the last day)",
      .by_help = "the metric whose changes are ranked: pss (the default), rss, uss, anon, swap, swap_pss",
      .formats = {"table", "json", "csv", "markdown", "html"},
      .most_subjects = 2,
      .subject_words = time_words()};
}

}  // namespace memoir::query
