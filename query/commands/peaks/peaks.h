#pragma once

// High-water marks. peaks.cpp parses the query and determines how many fit, marks.cpp uses the stored marks, steps.cpp
// finds the marks of any range, others.cpp finds the other memory users at that time, report.cpp renders them.

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/peaks.h"
#include "model/metric.h"
#include "query/args/filter.h"
#include "query/history/exits.h"
#include "query/history/row_plan.h"
#include "query/state/command.h"
#include "query/state/limit.h"
#include "query/state/state.h"

namespace memoir::query {

struct PeakRow {
  std::string name;                              // name of the group, or of the machine's metric
  std::shared_ptr<const StoredProcess> process;  // set for a row of one process
  Peak peak;
  std::optional<std::int64_t> now_kib = {};  // memory at the last observation in the range
  std::int64_t now_ms = 0;
  std::optional<Tier> within = {};             // tier of the bucket, if the time of the peak in it is unknown
  std::optional<std::int64_t> processes = {};  // number of processes, if only the largest of a group is shown
  bool exit_reported = false;                  // for an exited process: the kernel reported its peak
};

struct PeakQuery {
  Range range;
  bool all_time = false;
  bool whole_days = false;  // the range consists of full UTC days
  std::string group;
  Metric by = Metric::hwm;
  Filter filter;
  std::size_t max_rows = RowPlan::kMaxRows;
};

struct Peaks {
  std::vector<PeakRow> machine;     // used, available, swap
  std::vector<PeakRow> categories;  // peaks of categories, by PSS
  std::vector<PeakRow> rows;        // as requested, the highest first, up to the limit
  Truncation cut;                   // rows beyond the limit
  LeftOutRows left_out;             // rows that do not fit into memory
  Tier tier = {};                   // source of the rows; marks are as exact as ticks
  ExactShare exact;                 // share of the categories' memory that is exact, from rollups
  bool means = false;               // rows are sums of means, because rollups lack the highest sums
  bool has_events = false;          // there were kernel events at the end of the range
  ExitSum unseen;                   // exits that are only summed
};

// Finds the peaks of processes, categories, identities or cgroups in the store's marks, for all time or full days.
Result<Peaks> peaks_from_marks(const Context& context, const PeakQuery& question);

// Finds peaks in the intervals of the range, of ticks or of rollups.
Result<Peaks> peaks_from_steps(const Context& context, const PeakQuery& question);

// Metrics of the machine, in the order of the answer.
inline constexpr std::array kMachinePeaks{Metric::used, metric_of(MachineField::mem_available), Metric::swap_used};

// Returns the subject kinds of the answer besides processes: the machine, categories, and the query's group.
std::set<SubjectKind> reported_kinds(const PeakQuery& question);

Peak peak_of(const HighWater& mark);

// Returns a row for each subject of a kind with a mark of the metric, the most extreme first.
std::vector<PeakRow> rows_of(const std::vector<HighWater>& marks, SubjectKind subject, Metric metric);

// Sorts the highest peak first. Of equal peaks, the earliest is first.
void rank_rows(std::vector<PeakRow>& rows);

inline constexpr std::size_t kMaxGroups = 3;  // number of named contributors to a peak, of each kind

// Other memory users at the time of a peak, the largest first.
struct Others {
  std::string of;  // subject of the peak
  std::int64_t at_ms = 0;
  std::vector<RankedProcess> largest = {};  // processes by PSS, the largest first
  bool means = false;                       // the values are means over the bucket that contains at_ms
  // All memory at that time by group, the largest PSS first. Each list adds up to the total.
  std::vector<GroupState> identities = {};
  std::vector<GroupState> categories = {};
};
// Finds the other memory users of as many peaks as fit.
Result<std::vector<Others>> find_others(const Context& context, const PeakQuery& question, const Peaks& peaks);

// How much of each part to show: without --limit everything must fit the terminal, if there is one.
struct RowLimits {
  std::size_t rows = 0;                   // number of rows without --limit
  std::optional<std::size_t> categories;  // nullopt: all
  std::size_t others = 0;                 // number of peaks with other memory users
};
RowLimits row_limits_for(const Context& context, const PeakQuery& question, Tier tier = {});

// Keeps as many rows as fit, or as --limit allows.
void limit_peaks(const Context& context, const PeakQuery& question, Peaks& peaks);

// Returns the name of a row: the value by which processes are grouped, or the command of a single process.
std::string peak_name(const StoredProcess& process, const std::string& group);

void fill_peaks(const Context& context, const PeakQuery& question, const Peaks& peaks,
                const std::vector<Others>& others, Report& report);

// Returns whether the store has the marks of the largest members.
inline bool marks_members(const PeakQuery& question) {
  return question.group == "identity" && question.filter.takes_all();
}

// Sets the memory of each row's process at its last observation in the range. `now` is the state at the end of the
// range; nullptr if unavailable.
Status add_last_sights(const Context& context, const PeakQuery& question, const State* now, Peaks& peaks);

}  // namespace memoir::query
