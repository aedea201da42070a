#pragma once

// What commands ask of the past, whichever tier it is kept in: sums over subjects, and processes with what they held.

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "analysis/bucket_sum.h"
#include "analysis/ranking.h"
#include "analysis/rolled.h"
#include "store/reader.h"

namespace memoir::query {

// The groups of --group that may have a history of their own: identity, category, cgroup.
std::optional<SubjectKind> group_kind(std::string_view group);
// Those that have one in a tier; nullopt: the history of its members is summed.
std::optional<SubjectKind> kept_kind(Tier tier, std::string_view group);

// Several subjects as one: the sum of what they hold. Ticks tell its extremes, rollups its mean alone.
class SubjectSum {
 public:
  SubjectSum(std::int64_t width_ms, const BucketSum::Recorded& recorded);

  // `gone`: as of GroupSum.
  void add(std::int64_t subject_id, const Interval& interval, bool gone = false);

  // In order of time.
  void visit(const std::function<void(const Interval&)>& visit);
  std::vector<Interval> intervals();
  Summary summary();

 private:
  std::variant<GroupSum, BucketSum> sum_;
};

// Makes the sums of a tier and a range.
using MakeSum = std::function<SubjectSum()>;
Result<MakeSum> sums_over(Reader& reader, Tier tier, Range range);

// Processes, and one metric of each.
class ProcessHistory {
 public:
  // Of all processes that the tier knows of in the range: rollups have none of those that lived for less than one of
  // their buckets.
  static Result<ProcessHistory> load(Reader& reader, const HistoryQuestion& question);
  // Keeps none of them: `visit` gets each.
  static Result<ProcessHistory> load(Reader& reader, const HistoryQuestion& question, const VisitProcess& visit);
  // Of these alone, read one by one.
  static ProcessHistory of(Reader& reader, const HistoryQuestion& question, std::vector<StoredProcess> processes);

  const std::vector<StoredProcess>& processes() const { return processes_; }
  bool complete() const { return complete_; }  // no process of the range is missing

  // Those of one process in order of time.
  Status visit(const VisitInterval& visit) const;

 private:
  ProcessHistory(Reader& reader, HistoryQuestion question) : reader_(&reader), question_(std::move(question)) {}

  Reader* reader_;
  HistoryQuestion question_;
  std::vector<StoredProcess> processes_;
  std::vector<SubjectInterval> intervals_;  // of rollups, which tell only then whose they are
  bool complete_ = true;
  bool one_by_one_ = false;
};

// How exact the values of processes are over time: of ticks the time of members counts, of rollups their share.
struct Exactness {
  std::int64_t unknown_ms = 0;  // time of members whose memory was not known (zombies have none to know)
  std::int64_t inexact_ms = 0;  // time of members whose PSS is not exact
  std::int64_t member_ms = 0;   // time of all members
  ExactShare share = {};

  void add(Tier tier, const SubjectInterval& of);
};

// Groups by what they are called; what a file has no name for any more is left out.
using VisitGroup = std::function<void(const std::string& name, const SubjectInterval&)>;
Status visit_groups(Reader& reader, const HistoryQuestion& question, const VisitGroup& visit);

// What one subject held over a bucket, which may come as two.
struct MeanState {
  std::int64_t processes = 0;  // the most at one time
  std::map<Metric, BucketMean> means;

  // `part`: that of `of` which is within the bucket.
  void add(const SubjectInterval& of, const Interval& part);

  // While it lived; or over a time of which it held nothing in the rest (BucketMean).
  MetricValues values() const;
  MetricValues values_over(std::int64_t recorded_ms) const;
};

// The bucket of a tier that holds a time: [from_ms, to_ms); of ticks the time itself.
Range bucket_around(Tier tier, std::int64_t at_ms);

}  // namespace memoir::query
