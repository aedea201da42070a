// memoir diff: changes between two times, with their total.

#include "query/commands/diff/diff.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "query/args/meant.h"
#include "query/args/times.h"
#include "query/args/when.h"
#include "query/names/name_lookup.h"
#include "query/state/filter_values.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

// Processes that started and exited between the two times are counted over at most this many ticks (two days at 10 s).
// The count reads the rows of all processes, which is expensive for one line of the answer.
constexpr std::int64_t kMaxTicksToCountIn = 20'000;

// Returns whether the word is a time, or starts like one and is not a pid.
bool is_time(const std::string& word, const Context& context) {
  if (parse_time(word, context.now_ms, context.options.zone)) return true;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_pid = std::ranges::all_of(word.substr(0, word.find('@')), is_digit);
  return !is_pid && (is_digit(word.front()) || word.front() == '-' || word.ends_with(" ago"));
}

// Turns the words that are not times into filters.
Status take_subject(const Context& context, Options& options) {
  Options words = options;
  std::erase_if(words.subjects, [&](const std::string& word) { return word.empty() || is_time(word, context); });
  std::erase_if(options.subjects, [&](const std::string& word) { return !word.empty() && !is_time(word, context); });
  if (words.subjects.size() > 1)
    return malformed(fmt::format("'{}' and '{}': only one SUBJECT can be given{}", words.subjects[0], words.subjects[1],
                                 subject_hint(words.subjects[0])));
  if (options.subjects.size() > 2) return malformed("at most two times can be given: T1 and T2");
  const Context about{words, context.reader, context.file, context.runs, context.now_ms, context.when, context.screen};
  for (std::string& filter : TRY(subject_filters(about))) options.filters.push_back(std::move(filter));
  return Done{};
}

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
    // Counts back from the last tick, as --last does.
    const bool counts_back = text.starts_with('-') || text.ends_with(" ago");
    const Result<std::int64_t> time =
        (i == 0 ? parse_time : parse_end)(text, counts_back ? last_ms : context.now_ms, options.zone);
    if (!time) return malformed(fmt::format("T{}: {}", i + 1, time.error().message));
    (i == 0 ? range.from_ms : range.to_ms) = *time;
  }
  if (range.from_ms <= last_ms) range.to_ms = std::min(range.to_ms, std::max(context.now_ms, last_ms));
  if (range.from_ms > range.to_ms) {
    return malformed(fmt::format("T1 ({}) is after T2 ({}): give the earlier time first",
                                 format_time(range.from_ms, options.zone), format_time(range.to_ms, options.zone)));
  }
  return range;
}

Result<DiffQuery> ask(const Context& context) {
  DiffQuery question;
  question.range = TRY(times_asked(context));
  question.group = context.options.group.value_or("process");
  question.by = parse_metric(context.options.by.value_or("pss")).value_or(Metric::pss);
  return question;
}

// Fills everything except in_between from the two states.
Status compare(Reader& reader, const DiffQuery& question, Diff& diff) {
  const Metric by = question.by;
  Changes rows(question.group);
  Change others;
  for (const State* state : {&diff.before, &diff.after}) {
    const bool after = state == &diff.after;
    TRY(rows.add(reader, question.filter, *state, after));
    for (const ProcessUse& process : state->processes) {
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

// Sets the titles of changed identities, from their changed processes.
Status add_diff_titles(Reader& reader, const DiffQuery& question, const Diff& diff, Report& report) {
  if (question.group != "identity" || means_over(diff.before) || means_over(diff.after)) return Done{};
  Changes changes("process");
  TRY(changes.add(reader, question.filter, diff.before, false));
  TRY(changes.add(reader, question.filter, diff.after, true));
  std::vector<const StoredProcess*> changed;
  for (const Change& row : changes.rows()) {
    if (row.what(question.by) != "same") changed.push_back(last_seen(row).process);
  }
  report.titles = titles_of(changed);
  return Done{};
}

void warn_of_times(const Context& context, const DiffQuery& question, const Diff& diff, Report& report) {
  const Zone zone = context.options.zone;
  const std::int64_t first_ms = diff.before.at_ms;
  if (first_ms > question.range.from_ms) {
    report.warnings.push_back(fmt::format("nothing was recorded at {} yet: compared with the first tick, {}",
                                          format_time(question.range.from_ms, zone), format_time(first_ms, zone)));
  }
  if (const auto warning = stale_warning(diff.before, question.range.from_ms, zone)) {
    report.warnings.push_back("before: " + *warning);
  }
  if (const auto warning = stale_warning(diff.after, question.range.to_ms, zone)) {
    report.warnings.push_back("after: " + *warning);
  }
  if (const auto warning = same_warning(diff.before, diff.after)) report.warnings.push_back(*warning);
}

Status count_in_between(const Context& context, Report& report, Diff& diff) {
  if (report.coverage->ticks > kMaxTicksToCountIn) return Done{};
  const Range span{diff.before.at_ms, diff.after.at_ms};
  std::int64_t count = 0;
  TRY(visit_processes(context.reader, span, [&](const StoredProcess& process) {
    count += process.info.start_ms > span.from_ms && process.first_ms > span.from_ms && process.exit_kind != "execed" &&
             process.exited_ms && *process.exited_ms <= span.to_ms;
  }));
  diff.in_between = count;
  return Done{};
}

Result<Report> diff_against(const Context& context, DiffQuery question) {
  const bool by_default = !context.options.group;
  if (by_default) question.group = "identity";
  question.filter = TRY(filter_over(context, question.range));
  const Range before =
      TRY(parse_against(*context.options.against, question.range, context.now_ms, context.options.zone));
  Report report = TRY(diff_periods(context, question, before));
  if (by_default) TRY(show_titles(context.reader, report));
  return report;
}

Result<Report> run_diff(const Context& asked) {
  Options options = asked.options;
  TRY(take_subject(asked, options));
  const Context context{options, asked.reader, asked.file, asked.runs, asked.now_ms, asked.when, asked.screen};
  DiffQuery question = TRY(ask(context));
  if (options.against) return diff_against(context, std::move(question));
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
  TRY(add_diff_titles(context.reader, question, diff, report));
  note_filter(question.filter, "of the two times", report);
  warn_of_times(context, question, diff, report);
  return report;
}

}  // namespace

Command diff_command() {
  return {.name = "diff",
          .summary = "changes between two times: started, exited, grown, shrunk",
          .subject = "[SUBJECT] [T1 [T2]]",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::against, Option::by, Option::group,
                      Option::filter, Option::tier, Option::limit},
          .by = names_of(metrics_with(
              [](const MetricInfo& info) { return info.kinds.contains(SubjectKind::process) && info.adds_up; })),
          .groups = process_groups(),
          .examples = {{"memoir diff 02:00 03:14", "what changed between 02:00 and 03:14"},
                       {"memoir diff --day yesterday --group category",
                        "by category, from the start of yesterday to its end"},
                       {"memoir diff --last 1h --against yesterday",
                        "the means of an hour against the same hour yesterday"},
                       {"memoir diff nginx -2h", "how the processes of nginx changed in the last two hours"}},
          .run = run_diff,
          .subject_help =
              "T1, T2: the two times; T2 is by default the last tick; a future time means now. -2h counts back from "
              "the last tick, as --last does. Or give a range: its start and end are compared (by default the last "
              "day). With --against the means of two ranges are compared, by identity. SUBJECT: only these processes",
          .by_help = "the metric that ranks the changes: pss (the default), rss, uss, anon, swap, swap_pss, hugetlb",
          .max_subjects = 3,
          .subject_words = time_words()};
}

}  // namespace memoir::query
