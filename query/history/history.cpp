#include "query/history/history.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "query/history/tier.h"
#include "store/names.h"

namespace memoir::query {

namespace {

// Returns a function that clips a bucket to the range, as Reader::history() does.
Result<BucketSum::PartOf> clipping(Reader& reader, Tier tier, Range range) {
  const Range buckets{bucket_around(tier, range.from_ms).from_ms, bucket_around(tier, range.to_ms).to_ms};
  Coverage coverage = TRY(reader.coverage(buckets));
  const auto last = TRY(reader.tick_at(std::numeric_limits<std::int64_t>::max()));
  const std::int64_t last_ms = last ? last->begin.wall_ms : std::numeric_limits<std::int64_t>::max();
  return BucketSum::PartOf([=, coverage = std::move(coverage)](std::int64_t from_ms, std::int64_t until_ms) {
    Interval bucket{from_ms, until_ms, 0, {}, {}, {}, {}};
    end_with(last_ms, bucket);
    bucket.covered_ms = recorded_within(coverage, from_ms, bucket.until_ms);
    return clipped(bucket, range.from_ms, range.to_ms);
  });
}

}  // namespace

std::int64_t recorded_within(const Coverage& coverage, std::int64_t from_ms, std::int64_t until_ms) {
  std::int64_t recorded_ms = until_ms - from_ms;
  for (const Gap& gap : coverage.gaps)
    recorded_ms -= std::max<std::int64_t>(std::min(gap.to_ms, until_ms) - std::max(gap.from_ms, from_ms), 0);
  return recorded_ms;
}

std::optional<SubjectKind> group_kind(std::string_view group) {
  const auto found = std::ranges::find(kGroupKinds, group, [](SubjectKind kind) { return info_of(kind).name; });
  return found == kGroupKinds.end() ? std::nullopt : std::optional(*found);
}

std::optional<SubjectKind> kept_kind(Tier tier, std::string_view group) {
  return holds_groups(tier) ? group_kind(group) : std::nullopt;
}

SubjectSum::SubjectSum(std::int64_t width_ms, const BucketSum::PartOf& part_of) {
  if (width_ms > 0) sum_.emplace<BucketSum>(width_ms, part_of);
}

void SubjectSum::add(const SubjectInterval& of, bool gone) {
  if (auto* const ticks = std::get_if<GroupSum>(&sum_)) return ticks->add(of.subject_id, of.interval, gone, of.pass);
  std::get<BucketSum>(sum_).add(of.subject_id, of.interval);
}

void SubjectSum::visit(const std::function<void(const Interval&)>& visit) {
  if (auto* const ticks = std::get_if<GroupSum>(&sum_))
    return ticks->visit([&visit](const GroupInterval& of) { visit(of.interval); });
  for (const Interval& interval : std::get<BucketSum>(sum_).intervals()) visit(interval);
}

std::vector<Interval> SubjectSum::intervals() {
  std::vector<Interval> intervals;
  visit([&intervals](const Interval& interval) { intervals.push_back(interval); });
  return intervals;
}

Summary SubjectSum::summary() {
  Fold fold;
  visit([&fold](const Interval& interval) { fold.add(interval); });
  return fold.summary();
}

Result<MakeSum> sums_over(Reader& reader, Tier tier, Range range) {
  const std::int64_t width_ms = bucket_ms(tier);
  const auto part_of = TRY(width_ms > 0 ? clipping(reader, tier, range) : Result(BucketSum::PartOf()));
  return MakeSum([width_ms, part_of] { return SubjectSum(width_ms, part_of); });
}

Result<ProcessHistory> ProcessHistory::load(Reader& reader, const HistoryQuery& question, const VisitProcess& visit) {
  ProcessHistory history(reader, question);
  if (!holds_groups(question.tier)) {
    TRY(visit_processes(reader, question.range, visit));
    return history;
  }
  history.complete_ = false;
  std::set<std::int64_t> ids;
  TRY(reader.history(question, [&](const SubjectInterval& of) {
    ids.insert(of.subject_id);
    history.intervals_.push_back(of);
  }));
  TRY(visit_processes_by_id(reader, {ids.begin(), ids.end()}, visit));
  return history;
}

Result<ProcessHistory> ProcessHistory::load(Reader& reader, const HistoryQuery& question) {
  std::vector<StoredProcess> processes;
  ProcessHistory history =
      TRY(load(reader, question, [&processes](const StoredProcess& process) { processes.push_back(process); }));
  history.processes_ = std::move(processes);
  return history;
}

ProcessHistory ProcessHistory::of(Reader& reader, const HistoryQuery& question, std::vector<StoredProcess> processes) {
  ProcessHistory history(reader, question);
  history.processes_ = std::move(processes);
  history.one_by_one_ = true;
  return history;
}

Status ProcessHistory::visit(const VisitInterval& visit) const {
  if (!complete_) {
    for (const SubjectInterval& of : intervals_) visit(of);
    return Done{};
  }
  if (!one_by_one_) return reader_->history(question_, visit);
  HistoryQuery one = question_;
  for (const StoredProcess& process : processes_) {
    one.subject_id = process.id;
    TRY(reader_->history(one, visit));
  }
  return Done{};
}

void Exactness::add(Tier tier, const SubjectInterval& of) {
  if (holds_groups(tier)) return share.add(of.interval);
  if (of.processes == 0) return;
  member_ms += of.interval.covered_ms;
  if (!of.interval.mean) {
    unknown_ms += of.interval.covered_ms;
  } else if (of.interval.exact == 0) {
    inexact_ms += of.interval.covered_ms;
  }
}

Result<SeriesByMetric> load_series(Reader& reader, const HistoryQuery& question) {
  SeriesByMetric series;
  TRY(reader.history(question, [&series](const SubjectInterval& of) { series[of.metric].push_back(of.interval); }));
  for (auto& [metric, intervals] : series) std::ranges::stable_sort(intervals, {}, &Interval::from_ms);
  return series;
}

Status visit_groups(Reader& reader, const HistoryQuery& question, const VisitGroup& visit) {
  return visit_groups(reader, question, TRY(load_group_names(reader, question.kind)), visit);
}

Status visit_groups(Reader& reader, const HistoryQuery& question, const GroupNames& names, const VisitGroup& visit) {
  return reader.history(question, [&](const SubjectInterval& of) {
    const auto name = names.find(of.subject_id);
    if (name != names.end()) visit(name->second, of);
  });
}

MetricValues MeanState::values(std::optional<std::int64_t> recorded_ms) const {
  MetricValues values;
  for (const auto& [metric, mean] : means) values[metric] = recorded_ms ? mean.over(*recorded_ms) : mean.mean();
  return values;
}

MachineMemory MeanState::machine() const {
  MachineMemory memory;
  for (const MachineField field : kMachineSizes) {
    const auto mean = means.find(metric_of(field));
    if (mean != means.end()) memory.set(field, mean->second.mean());
  }
  return memory;
}

Result<BucketMeans> load_means(Reader& reader, Tier tier, SubjectKind kind,
                               const std::vector<std::int64_t>& starts_ms) {
  BucketMeans all;
  if (starts_ms.empty()) return all;
  const std::int64_t width_ms = bucket_ms(tier);
  const bool is_machine = kind == SubjectKind::machine;
  const HistoryQuery question{
      tier,
      kind,
      {},
      {starts_ms.front(), starts_ms.back() + width_ms},
      is_machine ? machine_size_metrics() : std::vector<Metric>(kRolledMetrics.begin(), kRolledMetrics.end())};
  TRY(reader.history(question, [&](const SubjectInterval& of) {
    // An interval may span several buckets, and a bucket may consist of two intervals.
    auto start = std::ranges::lower_bound(starts_ms, bucket_around(tier, of.interval.from_ms).from_ms);
    for (; start != starts_ms.end() && *start < of.interval.until_ms; ++start) {
      MeanState& state = all[*start][of.subject_id];
      state.processes = std::max(state.processes, of.processes);
      state.means[of.metric].add(clipped(of.interval, *start, *start + width_ms));
    }
  }));
  return all;
}

Range bucket_around(Tier tier, std::int64_t at_ms) {
  const std::int64_t width_ms = bucket_ms(tier);
  if (width_ms == 0) return {at_ms, at_ms};
  const std::int64_t from_ms = at_ms - at_ms % width_ms;
  return {from_ms, from_ms + width_ms};
}

}  // namespace memoir::query
