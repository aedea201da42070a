// memoir trend: one series over time.

#include "query/trend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "config/config.h"
#include "query/commands.h"
#include "query/completion.h"
#include "query/moment.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kDayMs = 24 * 3600 * std::int64_t{1000};

Result<std::optional<std::int64_t>> step_of(const Options& options) {
  if (!options.step) return std::optional<std::int64_t>();
  const auto step = parse_duration(*options.step);
  if (!step) return malformed("--step: " + step.error().message);
  if (step->count() <= 0) return malformed("--step: a bucket has a width");
  return std::optional<std::int64_t>(step->count());
}

Result<std::vector<Series>> load_all(const Context& context, Range range) {
  const Options& options = context.options;
  std::vector<std::string> words = options.subjects;
  if (words.empty()) words.emplace_back("machine");
  std::vector<Series> all;
  for (const std::string& word : words) {
    Result<Subject> subject = parse_subject(word, context.now_ms, options.zone);
    if (!subject) return subject.error();
    Result<Series> series = load_series(context, *std::move(subject), range);
    if (!series) return series.error();
    series->subject = word;
    all.push_back(*std::move(series));
  }
  return all;
}

Result<Report> run_trend(const Context& context) {
  const Options& options = context.options;
  for (const std::string& word : options.subjects) {
    const Result<Subject> subject = parse_subject(word, context.now_ms, options.zone);
    if (!subject) return subject.error();
  }
  const Result<std::optional<std::int64_t>> step = step_of(options);
  if (!step) return step.error();

  const Range range = range_or_last(context.when, {context.file.first_tick_ms, context.file.last_tick_ms}, kDayMs);
  Result<Report> report = begin_range_report(context, range);
  if (!report) return report;
  report->rows = bucket_table({});
  if (report->nothing_recorded) return report;
  const Result<std::vector<Series>> all = load_all(context, range);
  if (!all) return all.error();
  const std::int64_t interval_ms = context.runs.empty() ? 0 : context.runs.back().interval_ms;
  const TrendQuestion question{range, *step, interval_ms};
  const Status filled = all->size() == 1 ? fill_trend(context, question, all->front(), *report)
                                         : fill_multiples(context, question, *all, *report);
  if (!filled) return filled.error();
  return report;
}

std::vector<std::string> all_metrics() {
  std::vector<std::string> all = machine_metrics();
  for (const std::string& metric : process_metrics()) {
    if (std::find(all.begin(), all.end(), metric) == all.end()) all.push_back(metric);
  }
  return all;
}

}  // namespace

Command trend_command() {
  Command command;
  command.name = "trend";
  command.summary = "one series over time: min, mean and max by buckets, a chart, and the slope per day";
  command.subject = "[SUBJECT...]";
  command.most_subjects = kMostSeries;
  command.subject_words = {"machine", std::string(kCategoryNames)};
  command.subject_help = fmt::format("SUBJECT: {}; by default machine", kSubjectForms);
  command.options = {Option::from, Option::to, Option::last, Option::day, Option::by, Option::step, Option::ascii};
  command.by = all_metrics();
  command.by_help = fmt::format("what the series is of: for the machine {}; for all else {}",
                                fmt::join(machine_metrics(), ", "), fmt::join(process_metrics(), ", "));
  command.examples = {{"memoir trend machine --last 6h", "how the machine's memory in use went"},
                      {"memoir trend web --day yesterday --step 1h", "PSS of the category web, hour by hour"},
                      {"memoir trend web database --last 1d", "two categories, one chart below the other"}};
  command.run = run_trend;
  return command;
}

}  // namespace memoir::query
