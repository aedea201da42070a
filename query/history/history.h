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

// The groups of --group that may have their own history: identity, category, cgroup.
std::optional<SubjectKind> group_kind(std::string_view group);
// Groups with a history in a tier; nullopt: the history of the members is summed.
std::optional<SubjectKind> kept_kind(Tier tier, std::string_view group);

// The recorded time within [from_ms, until_ms], which is in the range of the coverage.
std::int64_t recorded_within(const Coverage& coverage, std::int64_t from_ms, std::int64_t until_ms);

// Sums several subjects. From ticks it has the extremes, from rollups only the mean.
class SubjectSum {
 public:
  SubjectSum(std::int64_t width_ms, const BucketSum::Recorded& recorded);

  // `gone`: as in GroupSum.
  void add(const SubjectInterval& of, bool gone = false);

  // In time order.
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
  // All processes of the tier in the range: rollups lack those that ran for less than one of their buckets.
  static Result<ProcessHistory> load(Reader& reader, const HistoryQuery& question);
  // Passes each interval to `visit` instead of storing it.
  static Result<ProcessHistory> load(Reader& reader, const HistoryQuery& question, const VisitProcess& visit);
  // Only these, read one by one.
  static ProcessHistory of(Reader& reader, const HistoryQuery& question, std::vector<StoredProcess> processes);

  const std::vector<StoredProcess>& processes() const { return processes_; }
  bool complete() const { return complete_; }  // no process of the range is missing

  // Visits the intervals; those of one process are in time order.
  Status visit(const VisitInterval& visit) const;

 private:
  ProcessHistory(Reader& reader, HistoryQuery question) : reader_(&reader), question_(std::move(question)) {}

  Reader* reader_;
  HistoryQuery question_;
  std::vector<StoredProcess> processes_;
  std::vector<SubjectInterval> intervals_;  // of rollups, which identify the processes only at the end
  bool complete_ = true;
  bool one_by_one_ = false;
};

// Exactness of processes' values over time: for ticks by the time of members, for rollups by their share.
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

// Groups by name; groups without a name in the file are left out.
using VisitGroup = std::function<void(const std::string& name, const SubjectInterval&)>;
Status visit_groups(Reader& reader, const HistoryQuery& question, const VisitGroup& visit);
using GroupNames = std::map<std::int64_t, std::string>;  // by row
Status visit_groups(Reader& reader, const HistoryQuery& question, const GroupNames& names, const VisitGroup& visit);

// Memory of one subject over a bucket.
struct MeanState {
  std::int64_t processes = 0;  // maximum at one time
  std::map<Metric, BucketMean> means;

  // Over its lifetime; or over a longer time with 0 for the remainder (BucketMean).
  MetricValues values(std::optional<std::int64_t> recorded_ms = {}) const;
  MachineMemory machine() const;
};

// All subjects of a kind over buckets of a tier, by the start of the bucket and by subject.
using BucketMeans = std::map<std::int64_t, std::map<std::int64_t, MeanState>>;
Result<BucketMeans> load_means(Reader& reader, Tier tier, SubjectKind kind, const std::vector<std::int64_t>& starts_ms);

// The bucket of a tier that contains a time: [from_ms, to_ms); for ticks the time itself.
Range bucket_around(Tier tier, std::int64_t at_ms);

}  // namespace memoir::query
