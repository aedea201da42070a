#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <unordered_map>

#include "query/answer/marks.h"
#include "query/answer/tier_steps.h"
#include "query/commands/peaks/source.h"

namespace memoir::query {

namespace {

std::vector<PeakRow> rows_of(const std::map<std::string, BucketSum>& sums, const PeakSource& source) {
  std::vector<PeakRow> rows;
  for (const auto& [name, sum] : sums) {
    Fold fold;
    for (Step step : sum.steps()) {
      Spread& spread = *step.spread;
      if (!spread.high) spread.low = spread.high = step.value;
      fold.add(step);
    }
    const Summary summary = fold.summary();
    if (summary.max) rows.push_back(row_of(name, summary, source));
  }
  rank_rows(rows);
  return rows;
}

bool is_same(const HighWater& mark, const PeakRow& row) {
  return mark.subject == MarkSubject::machine ? mark.metric == row.name : mark.name == row.name;
}

// A mark is that of the first time that its UTC day, which holds the whole bucket, was so high.
bool is_of_peak(const HighWater& mark, const PeakRow& row) {
  if (mark.value_kib != row.peak.value_kib) return false;
  if (row.tier == Tier::raw) return mark.at_ms == row.peak.at_ms;
  return mark.at_ms >= row.peak.before_ms && mark.at_ms < row.peak.at_ms;
}

void refine_rows(const std::vector<HighWater>& marks, MarkSubject kind, const std::optional<std::string>& metric,
                 std::vector<PeakRow>& rows) {
  for (const HighWater& mark : marks) {
    if (mark.subject != kind || (metric && mark.metric != *metric)) continue;
    for (PeakRow& row : rows) {
      if (!is_of_peak(mark, row) || !is_same(mark, row)) continue;
      row.peak.at_ms = mark.at_ms;
      row.peak.before_ms = mark.before_ms;
      row.tier = Tier::raw;
      break;
    }
  }
}

using AddStep = std::function<void(const std::string& name, std::int64_t id, const Step&)>;

Status sum_groups(const PeakSource& source, const PeakQuestion& question, const AddStep& add) {
  const MarkSubject kind = *group_kind(question.group);
  const std::map<std::int64_t, std::string> names = TRY(source.reader.group_names(kind));
  return visit_buckets(source.reader, source.tier, kind, std::nullopt, source.range, question.by,
                       [&](const RollupBucket& bucket, const Step& step) {
                         const auto name = names.find(bucket.subject_id);
                         if (name != names.end()) add(name->second, bucket.subject_id, step);
                       });
}

Status sum_processes(const PeakSource& source, const PeakQuestion& question, const AddStep& add) {
  const RolledProcesses rolled = TRY(read_rolled_processes(source.reader, source.tier, source.range, question.by));
  std::unordered_map<std::int64_t, std::string> names;
  for (const StoredProcess& process : rolled.processes) {
    if (question.filter.matches(process)) names[process.id] = peak_name(process, question.group);
  }
  for (const auto& [id, step] : rolled.steps) {
    const auto name = names.find(id);
    if (name != names.end()) add(name->second, id, step);
  }
  return Done{};
}

// The marks of days are many: over a longer range the mark of all time stands for them, where it was reached in it. So
// a process that was higher before the range is told by its rollups.
Result<ProcessMarks> marks_of(const PeakSource& source, const PeakQuestion& question) {
  constexpr std::int64_t few_days_ms = 2 * 86'400'000;
  constexpr std::size_t enough = 1000;  // to rank, where nothing is filtered out
  const bool few_days = source.range.to_ms - source.range.from_ms <= few_days_ms;
  Result<ProcessMarks> marks = source.reader.process_marks(
      few_days ? std::optional(source.range) : std::nullopt, source.range, to_string(question.by),
      question.filter.takes_all() ? enough : std::numeric_limits<std::size_t>::max());
  if (marks && question.by == Metric::hwm) std::erase_if(marks->marks, stood);
  return marks;
}

// A mark tells when; the rollups know of what was no higher.
Status add_marks(Reader& reader, const PeakQuestion& question, const std::vector<HighWater>& marks,
                 std::unordered_map<std::int64_t, PeakRow>& rows) {
  std::vector<std::int64_t> unknown;
  for (const HighWater& mark : marks) {
    if (!rows.contains(mark.subject_id)) unknown.push_back(mark.subject_id);
  }
  const std::vector<StoredProcess> processes = TRY(reader.processes_by_id(unknown));
  for (const StoredProcess& process : processes) {
    if (!question.filter.matches(process)) continue;
    PeakRow row{peak_name(process, question.group), process, {}, std::nullopt, 0};
    row.peak.value_kib = -1;
    rows.emplace(process.id, std::move(row));
  }
  for (const HighWater& mark : marks) {
    const auto row = rows.find(mark.subject_id);
    if (row == rows.end() || mark.value_kib < row->second.peak.value_kib) continue;
    row->second.peak = {mark.subject_id, mark.value_kib, mark.at_ms, mark.before_ms};
    row->second.tier = Tier::raw;
  }
  return Done{};
}

}  // namespace

bool reads_whole_groups(const PeakQuestion& question) {
  return group_kind(question.group) && question.filter.takes_all();
}

Result<std::vector<PeakRow>> group_rows_of_rollups(const PeakSource& source, const PeakQuestion& question) {
  const BucketSum::Recorded recorded = TRY(recorded_time(source.reader, source.tier, source.range));
  std::map<std::string, BucketSum> sums;
  const auto add = [&](const std::string& name, std::int64_t id, const Step& step) {
    sums.try_emplace(name, bucket_ms(source.tier), recorded).first->second.add(id, step);
  };
  TRY(reads_whole_groups(question) ? sum_groups(source, question, add) : sum_processes(source, question, add));
  return rows_of(sums, source);
}

Result<std::vector<PeakRow>> process_rows_of_rollups(const PeakSource& source, const PeakQuestion& question) {
  const bool by_mark = question.by == Metric::hwm;
  const RolledProcesses rolled =
      TRY(read_rolled_processes(source.reader, source.tier, source.range, by_mark ? Metric::rss : question.by));
  std::unordered_map<std::int64_t, Fold> folds;
  for (const auto& [id, step] : rolled.steps) folds[id].add(step);
  const ProcessMarks marks = TRY(marks_of(source, question));
  std::unordered_map<std::int64_t, PeakRow> rows;
  for (const StoredProcess& process : rolled.processes) {
    const Summary summary = folds[process.id].summary();
    if (!summary.max || !question.filter.matches(process)) continue;
    PeakRow row = row_of(peak_name(process, question.group), summary, source);
    row.process = process;
    row.peak.subject = process.id;
    rows.emplace(process.id, std::move(row));
  }
  TRY(add_marks(source.reader, question, marks.marks, rows));
  std::vector<PeakRow> all;
  all.reserve(rows.size());
  for (auto& [id, row] : rows) all.push_back(std::move(row));
  rank_rows(all);
  return all;
}

Result<std::vector<PeakRow>> identity_marks(const PeakSource& source) {
  const std::vector<HighWater> marks = TRY(source.reader.group_marks(source.range, {MarkSubject::identity}));
  const std::map<std::int64_t, std::string> names = TRY(source.reader.group_names(MarkSubject::identity));
  std::vector<PeakRow> rows;
  for (const Peak& peak : marks_within(marks, MarkSubject::identity, "hwm", source.range)) {
    const auto name = names.find(peak.subject);
    if (name != names.end()) rows.push_back({name->second, std::nullopt, peak, std::nullopt, peak.at_ms});
  }
  rank_rows(rows);
  return rows;
}

Status refine(const PeakSource& source, const PeakQuestion& question, Peaks& peaks) {
  const std::vector<HighWater> marks = TRY(source.reader.group_marks(source.range, told_kinds(question)));
  refine_rows(marks, MarkSubject::machine, std::nullopt, peaks.machine);
  refine_rows(marks, MarkSubject::category, "pss", peaks.categories);
  const auto kind = group_kind(question.group);
  if (kind && !peaks.means) refine_rows(marks, *kind, std::string(to_string(question.by)), peaks.rows);
  return Done{};
}

}  // namespace memoir::query
