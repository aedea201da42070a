#pragma once

// The machine's state for commands without a range.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "query/state/command.h"

namespace memoir::query {

// Returns an answer without data: exit status 3, and a warning with the recorded range.
Report nothing_recorded(const Context& context);

// Like nothing_recorded(context), with the columns of an answer, for CSV. `why` replaces the warning if it is not
// empty.
template <typename Row>
Report nothing_recorded(const Context& context, const Columns<Row>& columns, std::string why = {}) {
  Report report = nothing_recorded(context);
  if (!why.empty()) report.warnings = {std::move(why)};
  report.rows = make_table(columns, std::vector<Row>());
  return report;
}

// Starts an answer over a range, with its coverage. If nothing was recorded in the range, sets nothing_recorded and
// warns.
Result<Report> begin_range_report(const Context& context, Range range);

}  // namespace memoir::query
