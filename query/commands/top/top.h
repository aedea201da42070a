#pragma once

// memoir top: who used the memory. at.cpp answers for one time, over.cpp for a range, of which fold.cpp makes a row for
// each process or group, from ticks or from rollups.

#include <optional>
#include <string>
#include <vector>

#include "analysis/bucket_sum.h"
#include "model/metric.h"
#include "query/args/filter.h"
#include "query/history/history.h"
#include "query/state/changes.h"
#include "query/state/command.h"

namespace memoir::query {

// What is folded of one process, or of the members of a group.
struct TopRow {
  std::string name;
  const StoredProcess* process = nullptr;  // of a row that is one process
  std::int64_t processes = 0;
  Fold fold;                      // of one process
  std::optional<SubjectSum> sum;  // of a group
  Summary summary;
  std::optional<std::int64_t> mean_kib;  // over all the time that was recorded: who was not there held nothing
  std::optional<double> share;
  HeldAtEnds at_ends;  // not of marks
};

// What the answer is about, and where it comes from.
struct TopQuestion {
  Range range;
  Tier tier = {};
  Metric metric = Metric::pss;
  std::string group;
};

// KiB × ms.
struct TopHeld {
  double all = 0;     // by all processes
  double chosen = 0;  // by those that the filter takes
  ExactShare exact;   // of chosen
};

struct TopFold {
  TopFold() = default;
  TopFold(TopFold&&) = default;  // the rows point into the processes
  TopFold& operator=(TopFold&&) = default;

  std::optional<ProcessHistory> history;  // its processes are those of the rows
  std::vector<StoredProcess> marked;      // or these, of marks
  std::vector<TopRow> rows;
  TopHeld held;
  std::optional<std::int64_t> chosen;  // processes that the filter takes; absent of whole groups in rollups
  RangeEnds ends;                      // rows of processes too young for rollups point into them
};

// Feeds every interval to its row.
Result<TopFold> fold_top(Reader& reader, const TopQuestion& question, const Filter& filter);

// What each row held at the two ends, as memoir diff has it. `all`: with a row for those of the end that are too young
// to be in rollups, of which nothing else is known.
Status add_growth(const Context& context, const TopQuestion& question, const Filter& filter, bool all, TopFold& fold);

Result<Report> top_at(const Context& context);
Result<Report> top_over(const Context& context, Range range);

}  // namespace memoir::query
