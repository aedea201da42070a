#include "query/state/moment.h"

#include <fmt/format.h>

#include "query/report/format.h"

namespace memoir::query {
namespace {

std::string what_is_recorded(const Context& context) {
  const Zone zone = context.options.zone;
  if (context.file.ticks == 0) return "the file holds no tick yet: is memoird running?";
  return fmt::format("the file holds {} to {}", format_time(context.file.first_tick_ms, zone),
                     format_time(context.file.last_tick_ms, zone));
}

}  // namespace

Report nothing_recorded(const Context& context) {
  Report report;
  report.at_ms = context.when.at_ms;
  report.range = context.when.range;
  report.nothing_recorded = true;
  report.warnings.push_back("nothing was recorded at that time: " + what_is_recorded(context));
  return report;
}

Result<Report> begin_range_report(const Context& context, Range range) {
  Coverage coverage = TRY(context.reader.coverage(range));
  Report report;
  // Without a tick the file has no range of its own.
  if (context.when.range || context.file.ticks > 0 || range.to_ms > 0) report.range = range;
  if (coverage.ticks == 0 && coverage.recorded_ms == 0) {
    report.nothing_recorded = true;
    report.warnings.push_back("nothing was recorded in this range: " + what_is_recorded(context));
  }
  report.coverage = std::move(coverage);
  return report;
}

}  // namespace memoir::query
