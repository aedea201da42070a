#pragma once

// Access to the past for commands, independent of the tier: sums over subjects, and processes with their memory.

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "analysis/bucket_sum.h"
#include "analysis/ranking.h"
#include "analysis/span_stats.h"
#include "store/reader.h"

namespace memoir::query {

// Returns the subject kind of a group that may have its own history: identity, category, cgroup. Otherwise nullopt.
std::optional<SubjectKind> group_kind(std::string_view group);
// Returns the subject kind of a group with a history in the tier. If nullopt, the histories of the members are summed.
std::optional<SubjectKind> kept_kind(Tier tier, std::string_view group);

// Returns the recorded ms within [from_ms, until_ms], which must be within the range of the coverage.
std::int64_t recorded_within(const Coverage& coverage, std::int64_t from_ms, std::int64_t until_ms);

// Sums several subjects over time. A sum of ticks has extremes, a sum of rollups only a mean.
class SubjectSum {
 public:
  SubjectSum(std::int64_t width_ms, const BucketSum::PartOf& part_of);

  // `gone`: as in GroupSum.
  void add(const SubjectInterval& of, bool gone = false);

  // Visits the intervals of the sum in time order.
  void visit(const std::function<void(const Interval&)>& visit);
  std::vector<Interval> intervals();
  Summary summary();

 private:
  std::variant<GroupSum, BucketSum> sum_;
};

using MakeSum = std::function<SubjectSum()>;
Result<MakeSum> sums_over(Reader& reader, Tier tier, Range range);

class ProcessHistory {
 public:
  // Loads all processes of the tier in the range. Rollups lack processes that ran for less than one of their buckets.
  static Result<ProcessHistory> load(Reader& reader, const HistoryQuery& question);
  // Passes each process to `visit` instead of storing it.
  static Result<ProcessHistory> load(Reader& reader, const HistoryQuery& question, const VisitProcess& visit);
  // Returns a history of only `processes`, which reads each process on its own.
  static ProcessHistory of(Reader& reader, const HistoryQuery& question, std::vector<StoredProcess> processes);

  const std::vector<StoredProcess>& processes() const { return processes_; }
  bool complete() const { return complete_; }  // no process of the range is missing

  // Visits the intervals. The intervals of one process are in time order.
  Status visit(const VisitInterval& visit) const;

 private:
  ProcessHistory(Reader& reader, HistoryQuery question) : reader_(&reader), question_(std::move(question)) {}

  Reader* reader_;
  HistoryQuery question_;
  std::vector<StoredProcess> processes_;
  std::vector<SubjectInterval> intervals_;  // intervals of rollups: their processes are found after all are read
  bool complete_ = true;
  bool one_by_one_ = false;
};

// How much of the processes' values over time is exact. Ticks count the time of each process; rollups store a share.
struct Exactness {
  std::int64_t unknown_ms = 0;  // time of members with unknown memory (zombies have none)
  std::int64_t inexact_ms = 0;  // time of members with an inexact PSS
  std::int64_t member_ms = 0;   // time of all members
  ExactShare share = {};

  void add(Tier tier, const SubjectInterval& of);
};

// The intervals of a query by metric, in time order.
using SeriesByMetric = std::map<Metric, std::vector<Interval>>;
Result<SeriesByMetric> load_series(Reader& reader, const HistoryQuery& question);

// Visits the intervals of groups with their names. Omits groups without a name in the file.
using VisitGroup = std::function<void(const std::string& name, const SubjectInterval&)>;
Status visit_groups(Reader& reader, const HistoryQuery& question, const VisitGroup& visit);
using GroupNames = std::map<std::int64_t, std::string>;  // names by row id
Status visit_groups(Reader& reader, const HistoryQuery& question, const GroupNames& names, const VisitGroup& visit);

// Memory of one subject over a bucket.
struct MeanState {
  std::int64_t processes = 0;  // maximum number at one time
  std::map<Metric, BucketMean> means;

  // Returns means over the subject's lifetime. With `recorded_ms`, returns means over that longer time, in which the
  // subject counts as 0 outside its lifetime (BucketMean).
  MetricValues values(std::optional<std::int64_t> recorded_ms = {}) const;
  MachineMemory machine() const;
};

// All subjects of a kind over buckets of a tier, by the start of the bucket and by subject.
using BucketMeans = std::map<std::int64_t, std::map<std::int64_t, MeanState>>;
Result<BucketMeans> load_means(Reader& reader, Tier tier, SubjectKind kind, const std::vector<std::int64_t>& starts_ms);

// Returns the bucket of a tier that contains a time: [from_ms, to_ms); for ticks, the time itself.
Range bucket_around(Tier tier, std::int64_t at_ms);

}  // namespace memoir::query
