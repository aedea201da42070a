#pragma once

// The state of the machine that a command without a range answers from.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "query/state/command.h"

namespace memoir::query {

// The answer where there is none: exit status 3, and a warning that says what is recorded.
Report nothing_recorded(const Context& context);

// The same with the columns that an answer would have, for CSV; and why there is none, where more is known.
template <typename Row>
Report nothing_recorded(const Context& context, const Columns<Row>& columns, std::string why = {}) {
  Report report = nothing_recorded(context);
  if (!why.empty()) report.warnings = {std::move(why)};
  report.rows = make_table(columns, std::vector<Row>());
  return report;
}

// The range asked, with its coverage. Nothing recorded in it: report.nothing_recorded, and a warning.
Result<Report> begin_range_report(const Context& context, Range range);

}  // namespace memoir::query
