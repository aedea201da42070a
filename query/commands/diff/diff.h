#pragma once

// What changed between two states. diff.cpp reads the question, loads the two and sets them against each other,
// report.cpp tells.
//
// Two sums hold, whatever the group: the changes of all rows (and of what the filter leaves out) add up to the change
// of all processes; and that, with the other parts of the machine, to the change of MemTotal.

#include <optional>
#include <string>
#include <vector>

#include "analysis/machine_parts.h"
#include "query/state/changes.h"
#include "query/state/command.h"

namespace memoir::query {

struct DiffQuestion {
  Range range;        // the two times asked for
  std::string group;  // of the rows
  Metric by = Metric::pss;
  Filter filter;
};

struct Diff {
  State before;
  State after;
  std::vector<Change> rows;  // that changed, the largest change first; they point into the states
  std::int64_t unchanged = 0;
  Tally was;  // of all rows
  Tally is;
  std::int64_t others_kib = 0;       // change of the processes that the filter leaves out
  std::int64_t short_lived_kib = 0;  // and of those that rollups know in groups only, where rows are not such groups
  std::optional<MachineParts> parts_before;
  std::optional<MachineParts> parts_after;
  std::optional<std::int64_t> in_between;  // processes that came and went; absent where counting them would cost much
};

Columns<Change> diff_columns(const DiffQuestion& question);

void fill_diff(const Context& context, const DiffQuestion& question, const Diff& diff, Report& report);

}  // namespace memoir::query
