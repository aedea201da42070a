#include "query/commands/top/fold.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "query/answer/process_columns.h"
#include "query/answer/state.h"
#include "query/answer/tier_steps.h"

namespace memoir::query {
namespace {

// Which subject goes into which row.
struct Plan {
  std::unordered_map<std::int64_t, std::size_t> row_of;              // others are filtered out
  std::unordered_map<std::int64_t, const StoredProcess*> processes;  // all
};

Plan plan_rows(const TopQuestion& question, const Filter& filter, TopFold& fold) {
  Plan plan;
  std::map<std::string, std::size_t> index;
  for (const StoredProcess& process : fold.processes) {
    plan.processes[process.id] = &process;
    if (!filter.matches(process)) continue;
    const bool alone = question.group == "process";
    std::size_t at = fold.rows.size();
    const std::string name = alone ? shown_command(process.info, '?') : group_key(process, question.group);
    if (!alone) at = index.emplace(name, at).first->second;
    if (at == fold.rows.size()) {
      TopRow& row = fold.rows.emplace_back();
      row.name = name;
      if (alone) row.process = &process;
    }
    ++fold.rows[at].processes;
    plan.row_of[process.id] = at;
  }
  fold.chosen = static_cast<std::int64_t>(plan.row_of.size());
  return plan;
}

// Marks do not add up, and have no mean: the largest counts, from when it was first seen. They come in any order.
void see_mark(Summary& summary, std::optional<std::int64_t> mark, std::int64_t at_ms) {
  if (!mark || (summary.max && *mark < *summary.max)) return;
  if (mark == summary.max && at_ms >= summary.max_at_ms) return;
  summary.max = mark;
  summary.max_at_ms = at_ms;
}

double weight_of(const Step& step) {
  return static_cast<double>(step.value.value_or(0)) * static_cast<double>(step.covered_ms());
}

Result<TopFold> fold_ticks(Reader& reader, const TopQuestion& question, const Filter& filter) {
  std::vector<StoredProcess> processes = TRY(reader.processes(question.range));
  TopFold fold;
  fold.processes = std::move(processes);
  Plan plan = plan_rows(question, filter, fold);
  TopHeld& held = fold.held;
  const auto feed = [&](const ProcessMetricStep& from) {
    const double weight = weight_of(from.step);
    held.all += weight;
    const auto at = plan.row_of.find(from.process_id);
    if (at == plan.row_of.end()) return;
    held.chosen += weight;
    held.exact.add(weight, is_exact(question.metric, from.source) ? 1 : 0);
    TopRow& row = fold.rows[at->second];
    if (question.metric == Metric::hwm) {
      see_mark(row.summary, from.step.value, from.step.at_ms);
    } else if (row.process != nullptr) {
      row.fold.add(from.step);
    } else {
      row.sum.add(from.process_id, from.step, plan.processes[from.process_id]->gone_ms == from.step.until_ms);
    }
  };
  TRY(visit_processes(reader, question.tier, question.range, question.metric, std::nullopt, feed));
  return fold;
}

// The marks of the days, as far as they were reached in the range.
Result<TopFold> fold_marks(Reader& reader, const TopQuestion& question, const Filter& filter) {
  constexpr std::size_t enough = 1000;  // of those that are ranked one by one
  const bool alone = question.group == "process" && filter.takes_all();
  const ProcessMarks marks = TRY(reader.process_marks(question.range, question.range, "hwm",
                                                      alone ? enough : std::numeric_limits<std::size_t>::max()));
  std::vector<std::int64_t> ids;
  ids.reserve(marks.marks.size());
  for (const HighWater& mark : marks.marks) ids.push_back(mark.subject_id);
  std::vector<StoredProcess> processes = TRY(reader.processes_by_id(ids));
  TopFold fold;
  fold.processes = std::move(processes);
  const Plan plan = plan_rows(question, filter, fold);
  for (const HighWater& mark : marks.marks) {
    const auto at = plan.row_of.find(mark.subject_id);
    if (at != plan.row_of.end()) see_mark(fold.rows[at->second].summary, mark.value_kib, mark.at_ms);
  }
  return fold;
}

// The sum over all categories: with the processes that were too short-lived for rollups of their own.
Result<double> held_by_all(Reader& reader, const TopQuestion& question) {
  double all = 0;
  const Status read =
      visit_buckets(reader, question.tier, MarkSubject::category, std::nullopt, question.range, question.metric,
                    [&](const RollupBucket&, const Step& step) { all += weight_of(step); });
  if (!read) return read.error();
  return all;
}

void feed_bucket(const TopQuestion& question, const BucketSum::Recorded& recorded, std::int64_t subject_id,
                 const Step& step, TopRow& row, TopHeld& held) {
  held.chosen += weight_of(step);
  held.exact.add(step);
  if (row.process != nullptr) return row.fold.add(step);
  if (!row.buckets) row.buckets.emplace(bucket_ms(question.tier), recorded);
  row.buckets->add(subject_id, step);
}

// Groups that have rollups of their own, also those of which no process is known any more.
Status fold_whole_groups(Reader& reader, const TopQuestion& question, MarkSubject kind,
                         const BucketSum::Recorded& recorded, TopFold& fold) {
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(kind));
  std::unordered_map<std::string, std::size_t> row_of;  // identities of one name may differ in the program's path
  return visit_buckets(reader, question.tier, kind, std::nullopt, question.range, question.metric,
                       [&](const RollupBucket& bucket, const Step& step) {
                         const auto name = names.find(bucket.subject_id);
                         if (name == names.end()) return;
                         const auto [at, fresh] = row_of.try_emplace(name->second, fold.rows.size());
                         if (fresh) fold.rows.emplace_back().name = name->second;
                         TopRow& row = fold.rows[at->second];
                         row.processes = std::max(row.processes, bucket.processes);
                         feed_bucket(question, recorded, bucket.subject_id, step, row, fold.held);
                       });
}

Status fold_processes(Reader& reader, const TopQuestion& question, const Filter& filter,
                      const BucketSum::Recorded& recorded, TopFold& fold) {
  RolledProcesses rolled = TRY(read_rolled_processes(reader, question.tier, question.range, question.metric));
  fold.processes = std::move(rolled.processes);
  const Plan plan = plan_rows(question, filter, fold);
  for (const auto& [id, step] : rolled.steps) {
    const auto at = plan.row_of.find(id);
    if (at != plan.row_of.end()) feed_bucket(question, recorded, id, step, fold.rows[at->second], fold.held);
  }
  return Done{};
}

Result<TopFold> fold_rollups(Reader& reader, const TopQuestion& question, const Filter& filter) {
  const BucketSum::Recorded recorded = TRY(recorded_time(reader, question.tier, question.range));
  const double all = TRY(held_by_all(reader, question));
  TopFold fold;
  fold.held.all = all;
  const auto kind = group_kind(question.group);
  TRY(kind && filter.takes_all() ? fold_whole_groups(reader, question, *kind, recorded, fold)
                                 : fold_processes(reader, question, filter, recorded, fold));
  return fold;
}

}  // namespace

Result<TopFold> fold_top(Reader& reader, const TopQuestion& question, const Filter& filter) {
  if (question.tier == Tier::raw) return fold_ticks(reader, question, filter);
  if (question.metric == Metric::hwm) return fold_marks(reader, question, filter);
  return fold_rollups(reader, question, filter);
}

}  // namespace memoir::query
