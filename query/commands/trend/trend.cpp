// memoir trend: one series over time.

#include "query/commands/trend/trend.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "query/args/times.h"
#include "query/args/when.h"
#include "query/history/periods.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/moment.h"
#include "store/names.h"

namespace memoir::query {

namespace {

Result<std::vector<Subject>> subjects_of(const Context& context) {
  const Options& options = context.options;
  std::vector<std::string> words = options.subjects;
  if (words.empty()) words.emplace_back("machine");
  std::vector<Subject> subjects;
  subjects.reserve(words.size());
  for (const std::string& word : words) subjects.push_back(TRY(parse_subject(word, context.now_ms, options.zone)));
  return subjects;
}

bool is_process(const Subject& subject) {
  return subject.kind == Subject::Kind::process;
}

// Returns how much must be read. All processes are needed for a sum that no rollup stores, and for a plain word, which
// may match any of them.
Reads reads_of(const std::vector<Subject>& subjects) {
  const bool sums = std::ranges::any_of(subjects, [](const Subject& subject) {
    const bool group = subject.kind == Subject::Kind::group && !subject.category;
    return group || subject.kind == Subject::Kind::word;
  });
  if (sums) return Reads::sums;
  return std::ranges::any_of(subjects, is_process) ? Reads::process : Reads::one;
}

// Returns the part of the range to read, which determines its tier: for single processes only their lifetimes.
Result<Range> extent_of(const Context& context, const std::vector<Subject>& subjects, Range range) {
  if (!std::ranges::all_of(subjects, is_process)) return range;
  Range lived{range.to_ms, range.from_ms};
  for (const Subject& subject : subjects) {
    const std::vector<StoredProcess> processes = TRY(load_processes_of_pid(context.reader, range, subject.pid));
    for (const StoredProcess& process : processes) {
      lived.from_ms = std::min(lived.from_ms, std::max(process.first_ms, range.from_ms));
      lived.to_ms = std::max(lived.to_ms, std::min(process.exited_ms.value_or(range.to_ms), range.to_ms));
    }
  }
  return lived.from_ms < lived.to_ms ? lived : range;
}

Result<std::vector<Series>> load_all(const Context& context, std::vector<Subject> subjects,
                                     const TrendQuery& question) {
  std::vector<Series> all;
  for (Subject& subject : subjects) {
    const std::string name = subject.name;
    all.push_back(TRY(load_series(context, std::move(subject), question)));
    all.back().subject = name;
  }
  return all;
}

// Loads the series in the range of --against, moved to the range of the query.
Result<Series> load_other(const Context& context, TrendQuery question, Report& report) {
  std::vector<Subject> subjects = TRY(subjects_of(context));
  if (subjects.size() > 1) return malformed("--against compares one SUBJECT with its past");
  const Range range = question.range;
  const Tier tier = question.tier;
  question.range = TRY(parse_against(*context.options.against, range, context.now_ms, context.options.zone));
  const std::int64_t shift_ms = range.from_ms - question.range.from_ms;
  question.tier =
      std::max(tier, TRY(tier_of(context, question.range, reads_of(subjects), question.step_ms.value_or(kAnyWidth))));
  Result<Series> series = load_series(context, std::move(subjects.front()), question);
  if (!series && series.error().kind != ErrorKind::not_found) return series.error();
  Series other = series ? *std::move(series) : Series();
  for (Interval& interval : other.intervals) {
    interval.from_ms += shift_ms;
    interval.until_ms += shift_ms;
    if (interval.min_at_ms) *interval.min_at_ms += shift_ms;
    if (interval.max_at_ms) *interval.max_at_ms += shift_ms;
  }
  report.sections.push_back(
      periods_section({{"before", question.range, question.tier, TRY(context.reader.coverage(question.range))},
                       {"after", range, tier, *report.coverage}}));
  return other;
}

void report_source(const TrendQuery& question, Report& report) {
  report_tier(question.tier, report);
  if (question.step_ms && *question.step_ms < bucket_ms(question.tier)) {
    report.warnings.push_back(fmt::format("--step {} is finer than the rollups: each bucket spans several steps",
                                          format_span(*question.step_ms)));
  }
}

Result<Report> run_trend(const Context& context) {
  std::vector<Subject> subjects = TRY(subjects_of(context));
  const std::optional<std::int64_t> step = TRY(parse_step(context.options, "must be longer than 0"));

  const Range range = range_or_last(context.when, {context.file.first_tick_ms, context.file.last_tick_ms}, kDayMs);
  Report report = TRY(begin_range_report(context, range));
  report.rows = bucket_table({}, context.options.by.value_or(""));
  if (subjects.size() > 1 && context.options.by == kPressure)
    return malformed("--by pressure needs the machine as the only SUBJECT");
  if (report.nothing_recorded) return report;
  const Range extent = TRY(extent_of(context, subjects, range));
  const Tier tier = TRY(tier_of(context, extent, reads_of(subjects), step.value_or(kAnyWidth)));
  const std::int64_t interval_ms = context.runs.empty() ? 0 : context.runs.back().interval_ms;
  const TrendQuery question{range, step, std::max(interval_ms, bucket_ms(tier)), tier};
  std::optional<Series> other;
  if (context.options.against) other = TRY(load_other(context, question, report));
  const std::vector<Series> all = TRY(load_all(context, std::move(subjects), question));
  TRY(all.size() == 1 ? fill_trend(context, question, all.front(), other, report)
                      : fill_multiples(context, question, all, report));
  report_source(question, report);
  return report;
}

std::vector<std::string> all_metrics() {
  std::vector<std::string> all = metric_names(SubjectKind::machine);
  for (const std::string& metric : metric_names(SubjectKind::process)) {
    if (std::find(all.begin(), all.end(), metric) == all.end()) all.push_back(metric);
  }
  return all;
}

}  // namespace

Command trend_command() {
  return {.name = "trend",
          .summary = "one series: min, mean, max, chart and slope per day",
          .subject = "[SUBJECT...]",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::against, Option::by, Option::step,
                      Option::tier, Option::ascii},
          .by = all_metrics(),
          .examples = {{"memoir trend machine --last 6h", "the machine's memory in use"},
                       {"memoir trend web --day yesterday --step 1h", "PSS of the category web, hour by hour"},
                       {"memoir trend web database --last 1d", "two categories, one chart below the other"},
                       {"memoir trend --by pressure --last 6h", "how long tasks waited for memory"},
                       {"memoir trend nginx --against -7d", "the last day and the day a week earlier in one chart"}},
          .run = run_trend,
          .subject_help = subject_help("machine"),
          .by_help = fmt::format("the metric: of the machine {}; of other subjects {}",
                                 fmt::join(metric_names(SubjectKind::machine), ", "),
                                 fmt::join(metric_names(SubjectKind::process), ", ")),
          .max_subjects = kMaxSeries,
          .subject_words = {"machine", std::string(kCategoryNames)}};
}

}  // namespace memoir::query
