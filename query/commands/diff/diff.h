#pragma once

// Changes between two states. diff.cpp parses the query, loads the two states and compares them; report.cpp renders the
// result. periods.cpp compares the means of two periods (--against).
//
// Two sums hold for every --group. The changes of all rows and of the processes left out by the filter add up to the
// change of all processes. Together with the other parts of the machine, they add up to the change of MemTotal.

#include <optional>
#include <string>
#include <vector>

#include "analysis/machine_parts.h"
#include "query/state/changes.h"
#include "query/state/command.h"

namespace memoir::query {

struct DiffQuery {
  Range range;        // the two requested times
  std::string group;  // what the rows are grouped by
  Metric by = Metric::pss;
  Filter filter;
};

struct Diff {
  State before;
  State after;
  std::vector<Change> rows;  // changed rows, the largest change first; they point into the states
  std::int64_t unchanged = 0;
  Tally was;  // sum of all rows
  Tally is;
  std::int64_t others_kib = 0;  // change of the processes that the filter leaves out
  // Change of processes that only the rollups of groups include; 0 if the rows are these groups.
  std::int64_t short_lived_kib = 0;
  std::optional<MachineParts> parts_before;
  std::optional<MachineParts> parts_after;
  std::optional<std::int64_t> in_between;  // processes that started and exited in between; nullopt if counting them is
                                           // too expensive
};

Columns<Change> diff_columns(const DiffQuery& question);

// Compares the means over the range of the query with those over `before`. The rows and the memory that is in no row
// add up to the change of the machine's memory in use.
Result<Report> diff_periods(const Context& context, const DiffQuery& question, Range before);

void fill_diff(const Context& context, const DiffQuery& question, const Diff& diff, Report& report);

}  // namespace memoir::query
