// memoir summary: what a day was like.

#include "query/commands/summary/summary.h"

#include <algorithm>

#include "query/answer/moment.h"

namespace memoir::query {

namespace {

Result<Report> run_summary(const Context& context) {
  if (context.options.write_missing) return write_missing(context, *context.options.write_missing);
  const Day day = TRY(parse_day(context.options.day.value_or("yesterday"), context.now_ms, context.options.zone));
  Result<Report> report = summarise_day(context, day);
  const bool later = context.file.ticks > 0 && context.file.last_tick_ms >= day.end_ms;
  if (report && report->nothing_recorded && !context.options.day && later) {
    report->warnings.emplace_back("a summary is of yesterday; memoir summary --day today tells of today");
  }
  return report;
}

}  // namespace

Result<Report> summarise_day(const Context& context, Day day) {
  // A day that is not over ends now.
  const std::int64_t latest_ms = std::max(context.now_ms, context.file.last_tick_ms);
  const Range range{day.begin_ms, std::clamp(latest_ms, day.begin_ms, day.end_ms - 1)};
  Report report = TRY(begin_range_report(context, range));
  if (report.nothing_recorded) return report;
  const std::optional<DaySummary> summary = TRY(load_summary(context, day));
  if (!summary) {
    report.nothing_recorded = true;
    report.warnings.emplace_back("what was recorded on this day is too little to be summed up");
    return report;
  }
  fill_summary(context, *summary, report);
  return report;
}

Command summary_command() {
  return {.name = "summary",
          .summary = "what a day was like: peaks, who held and who grew, OOM kills, restarts, against the week before",
          .options = {Option::day, Option::limit, Option::hour, Option::config, Option::ascii, Option::write_missing},
          .examples = {{"memoir summary", "yesterday, in 80 columns, as for a mail"},
                       {"memoir summary --format html > yesterday.html", "the same as a page with charts"}},
          .run = run_summary,
          .formats = {"table", "json", "csv", "markdown", "html"}};
}

}  // namespace memoir::query
