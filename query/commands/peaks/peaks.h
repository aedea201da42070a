#pragma once

// High-water marks. peaks.cpp reads the question and says how many fit, marks.cpp takes the marks that the store keeps,
// steps.cpp finds those of any range, report.cpp tells.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/peaks.h"
#include "model/metric.h"
#include "query/args/filter.h"
#include "query/history/exits.h"
#include "query/state/command.h"
#include "query/state/holders.h"
#include "query/state/limit.h"
#include "query/state/state.h"

namespace memoir::query {

struct PeakRow {
  std::string name;                      // of a group, or the machine's metric
  std::optional<StoredProcess> process;  // of a row that is one process
  Peak peak;
  std::optional<std::int64_t> now_kib = {};  // when it was last seen in the range
  std::int64_t now_ms = 0;
  std::optional<Tier> within = {};  // of a bucket that tells no more: it was reached between the peak's two times
  std::optional<std::int64_t> processes = {};  // of a group of which the largest member is told: how many it had
  bool end_told = false;                       // of one that ended: the kernel told what it had at most
};

struct PeakQuestion {
  Range range;
  bool all_time = false;
  bool whole_days = false;  // the range is one of whole UTC days
  std::string group;
  Metric by = Metric::hwm;
  Filter filter;
};

struct Peaks {
  std::vector<PeakRow> machine;     // used, available, swap
  std::vector<PeakRow> categories;  // by PSS
  std::vector<PeakRow> rows;        // as asked, the highest first, to the limit
  Cut cut;                          // what the limit leaves out
  Tier tier = {};                   // where the rows come from; marks are as exact as ticks
  ExactShare exact;                 // of what categories held, from rollups
  bool means = false;               // the rows are not the highest sums, which rollups do not know, but mean ones
  bool told = false;                // ends were told at the end of the range,
  EndSum unseen;                    // and these are only summed
};

// From the store's marks of all time or of whole days: of processes, categories, identities and cgroups.
Result<Peaks> peaks_from_marks(const Context& context, const PeakQuestion& question);

// From the steps of the range, of ticks or of rollups.
Result<Peaks> peaks_from_steps(const Context& context, const PeakQuestion& question);

// Beside processes: the machine, categories, and what the question groups by.
std::set<SubjectKind> told_kinds(const PeakQuestion& question);

Peak peak_of(const HighWater& mark);

// The marks of a metric that were reached in the range, by subject.
std::vector<Peak> marks_within(const std::vector<HighWater>& marks, SubjectKind subject, Metric metric, Range range);

// The highest first, of equal ones the earliest.
void rank_rows(std::vector<PeakRow>& rows);

// Who else held memory at the moment of a peak, the largest first.
inline constexpr std::size_t kMostGroups = 3;  // that made a peak are named, of each kind

struct Others {
  std::string of;  // whose peak
  std::int64_t at_ms = 0;
  Holders holders;
};

// How much of each part to show: without --limit all of it must fit the terminal, if it goes to one.
struct Room {
  std::size_t rows = 0;                   // without --limit
  std::optional<std::size_t> categories;  // absent: all
  std::size_t others = 0;                 // peaks of which it is said who else held memory
};
Room room_for(const Context& context, const PeakQuestion& question, Tier tier = {});

// Leaves as many rows as there is room for, or as --limit says.
void limit_peaks(const Context& context, const PeakQuestion& question, Peaks& peaks);

// The key that a row is sorted under: identity, category, command, user or cgroup; or the process itself.
std::string peak_name(const StoredProcess& process, const std::string& group);

void fill_peaks(const Context& context, const PeakQuestion& question, const Peaks& peaks,
                const std::vector<Others>& others, Report& report);

// What the parts of peaks_from_steps share: where they read, and how a maximum becomes a row.
struct PeakSource {
  Reader& reader;
  Range range;
  Tier tier = {};
};

// Of a bucket that does not tell when, the maximum was reached somewhere within it.
Peak peak_of(const Summary& summary, const PeakSource& source, std::int64_t subject = 0);
PeakRow row_of(std::string name, const Summary& summary, const PeakSource& source);

// Whether the store has the marks of the largest members.
inline bool marks_members(const PeakQuestion& question) {
  return question.group == "identity" && question.filter.takes_all();
}

// Whether the groups have rollups of their own.
bool reads_whole_groups(const PeakQuestion& question);

// The highest sum of a group that has no rollups of its own is not known from them: its highest mean stands for it.
Result<std::vector<PeakRow>> group_rows(const PeakSource& source, const PeakQuestion& question);

// To the maxima of the rollups the marks that the store keeps, short-lived processes included.
Status add_process_marks(const PeakSource& source, const PeakQuestion& question, std::vector<PeakRow>& rows);

// What each process of the rows held when it was seen last in the range. `now` is the state at its end; null: not at
// hand.
Status add_last_sights(const Context& context, const PeakQuestion& question, const State* now, Peaks& peaks);

// The highest VmHWM of one process of each identity.
Result<std::vector<PeakRow>> identity_marks(const PeakSource& source);

// Of each other group, those included that no tick saw.
Result<std::vector<PeakRow>> member_marks(const PeakSource& source, const PeakQuestion& question);

// Replaces the peaks of buckets by the store's marks of the range that are higher, or as high: a mark has its time.
Status fold_marks(const PeakSource& source, const PeakQuestion& question, Peaks& peaks);

}  // namespace memoir::query
