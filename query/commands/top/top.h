#pragma once

// memoir top: processes or groups by memory. at.cpp answers for one time, and over.cpp for a range. For a range,
// fold.cpp makes a row for each process or group, from ticks or from rollups.

#include <optional>
#include <string>
#include <vector>

#include "analysis/bucket_sum.h"
#include "model/metric.h"
#include "query/args/filter.h"
#include "query/history/row_plan.h"
#include "query/state/changes.h"
#include "query/state/command.h"

namespace memoir::query {

// Folded values of one process, or of the members of a group.
struct TopRow : PlannedRow {
  Fold fold;                      // values of one process
  std::optional<SubjectSum> sum;  // values of a group
  Summary summary;
  std::optional<std::int64_t> mean_kib;  // mean over all recorded time: an absent process counts as 0
  std::optional<double> share;
  MemoryAtEnds at_ends;  // not used for marks
};

// The query, and the source of the answer.
struct TopQuery {
  Range range;
  Tier tier = {};
  Metric metric = Metric::pss;
  std::string group;
  std::size_t max_rows = RowPlan::kMaxRows;
};

// Memory over time, in KiB × ms.
struct TopHeld {
  double all = 0;       // memory of all processes
  double chosen = 0;    // memory of the processes that the filter accepts
  double left_out = 0;  // memory of processes without a row, because there are too many
  ExactShare exact;     // share of `chosen` that is exact
};

struct TopFold {
  std::vector<TopRow> rows;
  TopHeld held;
  std::optional<std::int64_t> chosen;  // number of processes, as in RowPlan::processes()
  LeftOutRows left_out;                // rows left out, as in RowPlan::left_out()
  bool complete = true;                // no process younger than a bucket is missing
  RangeEnds ends;
};

// Adds every interval to its row.
Result<TopFold> fold_top(Reader& reader, const TopQuery& question, const Filter& filter);

// Adds each row's memory at the two ends, as in memoir diff. If `all`, also adds rows for processes at the end that are
// too young for rollups. These rows have no other values.
Status add_growth(const Context& context, const TopQuery& question, const Filter& filter, bool all, TopFold& fold);

Result<Report> top_at(const Context& context);
Result<Report> top_over(const Context& context, Range range);

}  // namespace memoir::query
