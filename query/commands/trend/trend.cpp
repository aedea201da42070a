// memoir trend: one series over time.

#include "query/commands/trend/trend.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "query/args/times.h"
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

// A sum over members that no rollup has is made of those of all processes; what a word means is found among them.
Reads reads_of(const std::vector<Subject>& subjects) {
  const bool sums = std::ranges::any_of(subjects, [](const Subject& subject) {
    const bool group = subject.kind == Subject::Kind::group && !subject.category;
    return group || subject.kind == Subject::Kind::word;
  });
  if (sums) return Reads::sums;
  return std::ranges::any_of(subjects, is_process) ? Reads::process : Reads::one;
}

// How much of the range there is to read, by which its tier is chosen: of processes alone no more than their lives.
Result<Range> extent_of(const Context& context, const std::vector<Subject>& subjects, Range range) {
  if (!std::ranges::all_of(subjects, is_process)) return range;
  Range lived{range.to_ms, range.from_ms};
  for (const Subject& subject : subjects) {
    const std::vector<StoredProcess> processes = TRY(load_processes_of_pid(context.reader, range, subject.pid));
    for (const StoredProcess& process : processes) {
      lived.from_ms = std::min(lived.from_ms, std::max(process.first_ms, range.from_ms));
      lived.to_ms = std::max(lived.to_ms, std::min(process.gone_ms.value_or(range.to_ms), range.to_ms));
    }
  }
  return lived.from_ms < lived.to_ms ? lived : range;
}

Result<std::vector<Series>> load_all(const Context& context, std::vector<Subject> subjects,
                                     const TrendQuestion& question) {
  std::vector<Series> all;
  for (Subject& subject : subjects) {
    const std::string name = subject.name;
    all.push_back(TRY(load_series(context, std::move(subject), question)));
    all.back().subject = name;
  }
  return all;
}

void report_source(const TrendQuestion& question, Report& report) {
  report_tier(question.tier, report);
  if (question.step_ms && *question.step_ms < bucket_ms(question.tier)) {
    report.warnings.push_back(fmt::format("--step {} is finer than the rollups: each stands for several buckets",
                                          print_span(*question.step_ms)));
  }
}

Result<Report> run_trend(const Context& context) {
  std::vector<Subject> subjects = TRY(subjects_of(context));
  const std::optional<std::int64_t> step = TRY(parse_step(context.options, "a bucket has a width"));

  const Range range = range_or_last(context.when, {context.file.first_tick_ms, context.file.last_tick_ms}, kDayMs);
  Report report = TRY(begin_range_report(context, range));
  report.rows = bucket_table({});
  if (report.nothing_recorded) return report;
  const Range extent = TRY(extent_of(context, subjects, range));
  const Tier tier = TRY(tier_of(context, extent, reads_of(subjects), step.value_or(kAnyWidth)));
  const std::int64_t interval_ms = context.runs.empty() ? 0 : context.runs.back().interval_ms;
  const TrendQuestion question{range, step, std::max(interval_ms, bucket_ms(tier)), tier};
  const std::vector<Series> all = TRY(load_all(context, std::move(subjects), question));
  TRY(all.size() == 1 ? fill_trend(context, question, all.front(), report)
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
          .summary = "one series over time: min, mean and max by buckets, a chart, and the slope per day",
          .subject = "[SUBJECT...]",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::by, Option::step, Option::tier,
                      Option::ascii},
          .by = all_metrics(),
          .examples = {{"memoir trend machine --last 6h", "how the machine's memory in use went"},
                       {"memoir trend web --day yesterday --step 1h", "PSS of the category web, hour by hour"},
                       {"memoir trend web database --last 1d", "two categories, one chart below the other"}},
          .run = run_trend,
          .subject_help = fmt::format("SUBJECT: {}; by default machine", kSubjectForms),
          .by_help = fmt::format("what the series is of: for the machine {}; for all else {}",
                                 fmt::join(metric_names(SubjectKind::machine), ", "),
                                 fmt::join(metric_names(SubjectKind::process), ", ")),
          .most_subjects = kMostSeries,
          .subject_words = {"machine", std::string(kCategoryNames)}};
}

}  // namespace memoir::query
