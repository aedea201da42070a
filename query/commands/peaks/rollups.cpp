#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "query/commands/peaks/peaks.h"
#include "query/history/history.h"
#include "query/history/marks.h"
#include "query/history/tier.h"
#include "store/exits.h"
#include "store/names.h"

namespace memoir::query {

namespace {

// Where the highest of a sum is not known, its highest mean stands for it.
Summary summary_of(SubjectSum& sum) {
  Fold fold;
  sum.visit([&fold](Interval interval) {
    if (!interval.max) interval.min = interval.max = interval.mean;
    fold.add(interval);
  });
  return fold.summary();
}

bool is_same(const HighWater& mark, const PeakRow& row) {
  return mark.subject == SubjectKind::machine ? to_string(mark.metric) == row.name : mark.name == row.name;
}

// A mark that was reached in the range is no lower than the maximum of the buckets when its day's maximum is in the
// range. Of equal ones the mark is more precise, unless the bucket is over before it.
bool replaces(const HighWater& mark, const PeakRow& row) {
  if (mark.value_kib == row.peak.value_kib)
    return row.within ? mark.at_ms < row.peak.at_ms : mark.at_ms == row.peak.at_ms;
  const bool is_lower = mark.value_kib < row.peak.value_kib;
  return is_lower == info_of(mark.metric).lowest;
}

void fold_marks(const std::vector<HighWater>& marks, Range range, SubjectKind kind, std::optional<Metric> metric,
                std::vector<PeakRow>& rows) {
  for (const HighWater& mark : marks) {
    if (mark.subject != kind || (metric && mark.metric != *metric)) continue;
    if (mark.at_ms < range.from_ms || mark.at_ms > range.to_ms || (mark.metric == Metric::hwm && stood(mark))) continue;
    for (PeakRow& row : rows) {
      if (!is_same(mark, row) || !replaces(mark, row)) continue;
      row.peak = {row.peak.subject, mark.value_kib, mark.at_ms, mark.before_ms, mark.seen_by};
      row.within.reset();
    }
  }
}

using SumByName = std::map<std::string, SubjectSum>;

SubjectSum& sum_of(const std::string& name, const MakeSum& make, SumByName& sums) {
  const auto found = sums.find(name);
  return found != sums.end() ? found->second : sums.emplace(name, make()).first->second;
}

Status sum_groups(const PeakSource& source, const PeakQuestion& question, const MakeSum& make, SumByName& sums) {
  return visit_groups(source.reader, {source.tier, *group_kind(question.group), {}, source.range, {question.by}},
                      [&](const std::string& name, const SubjectInterval& of) {
                        sum_of(name, make, sums).add(of.subject_id, of.interval);
                      });
}

Status sum_processes(const PeakSource& source, const PeakQuestion& question, const MakeSum& make, SumByName& sums) {
  struct Member {
    SubjectSum* sum;
    std::optional<std::int64_t> gone_ms;
  };
  std::unordered_map<std::int64_t, Member> members;
  const ProcessHistory history = TRY(ProcessHistory::load(
      source.reader, {source.tier, SubjectKind::process, {}, source.range, {question.by}},
      [&](const StoredProcess& process) {
        if (!question.filter.matches(process)) return;
        members[process.id] = {&sum_of(peak_name(process, question.group), make, sums), process.gone_ms};
      }));
  return history.visit([&members](const SubjectInterval& of) {
    const auto member = members.find(of.subject_id);
    if (member == members.end()) return;
    member->second.sum->add(of.subject_id, of.interval, member->second.gone_ms == of.interval.until_ms);
  });
}

// The marks of days are many: over a longer range the mark of all time stands for them, where it was reached in it. So
// a process that was higher before the range is told by its rollups.
Result<ProcessMarks> marks_of(const PeakSource& source, const PeakQuestion& question, std::size_t enough) {
  constexpr std::int64_t few_days_ms = 2 * 86'400'000;
  const bool few_days = source.range.to_ms - source.range.from_ms <= few_days_ms;
  Result<ProcessMarks> marks =
      source.reader.process_marks(few_days ? std::optional(source.range) : std::nullopt, source.range, question.by,
                                  question.filter.takes_all() ? enough : std::numeric_limits<std::size_t>::max());
  if (marks && question.by == Metric::hwm) std::erase_if(marks->marks, stood);
  return marks;
}

}  // namespace

bool reads_whole_groups(const PeakQuestion& question) {
  return group_kind(question.group) && question.filter.takes_all();
}

Result<std::vector<PeakRow>> group_rows(const PeakSource& source, const PeakQuestion& question) {
  const MakeSum make = TRY(sums_over(source.reader, source.tier, source.range));
  SumByName sums;
  const bool whole = holds_groups(source.tier) && reads_whole_groups(question);
  TRY((whole ? sum_groups : sum_processes)(source, question, make, sums));
  std::vector<PeakRow> rows;
  for (auto& [name, sum] : sums) {
    const Summary summary = summary_of(sum);
    if (summary.max) rows.push_back(row_of(name, summary, source));
  }
  rank_rows(rows);
  return rows;
}

Status add_process_marks(const PeakSource& source, const PeakQuestion& question, std::vector<PeakRow>& rows) {
  constexpr std::size_t enough = 1000;  // to rank, where nothing is filtered out
  const ProcessMarks marks = TRY(marks_of(source, question, enough));
  std::unordered_map<std::int64_t, PeakRow> by_id;
  for (PeakRow& row : rows) by_id.emplace(row.process->id, std::move(row));
  std::vector<std::int64_t> unknown;
  for (const HighWater& mark : marks.marks) {
    if (!by_id.contains(mark.subject_id)) unknown.push_back(mark.subject_id);
  }
  const std::vector<StoredProcess> processes = TRY(load_processes_by_id(source.reader, unknown));
  for (const StoredProcess& process : processes) {
    if (!question.filter.matches(process)) continue;
    PeakRow row{peak_name(process, question.group), process, {}};
    row.peak.value_kib = -1;
    by_id.emplace(process.id, std::move(row));
  }
  // A mark tells when; the rollups know of what was no higher.
  for (const HighWater& mark : marks.marks) {
    const auto row = by_id.find(mark.subject_id);
    if (row == by_id.end() || mark.value_kib < row->second.peak.value_kib) continue;
    row->second.peak = peak_of(mark);
    row->second.within.reset();
  }
  rows.clear();
  for (auto& [id, row] : by_id) rows.push_back(std::move(row));
  return Done{};
}

Result<std::vector<PeakRow>> identity_marks(const PeakSource& source) {
  const std::vector<HighWater> marks = TRY(source.reader.high_water(source.range, {SubjectKind::identity}));
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(source.reader, SubjectKind::identity));
  std::vector<PeakRow> rows;
  for (const Peak& peak : marks_within(marks, SubjectKind::identity, Metric::hwm, source.range)) {
    const auto name = names.find(peak.subject);
    if (name != names.end()) rows.push_back({name->second, {}, peak});
  }
  rank_rows(rows);
  return rows;
}

Result<std::vector<PeakRow>> member_marks(const PeakSource& source, const PeakQuestion& question) {
  const ProcessMarks marks = TRY(marks_of(source, question, std::numeric_limits<std::size_t>::max()));
  std::unordered_map<std::int64_t, Peak> by_id;
  std::vector<std::int64_t> ids;
  for (const HighWater& mark : marks.marks) {
    if (by_id.emplace(mark.subject_id, peak_of(mark)).second) ids.push_back(mark.subject_id);
  }
  const std::vector<StoredProcess> processes = TRY(load_processes_by_id(source.reader, ids));
  std::map<std::string, PeakRow> groups;
  const auto add = [&](const StoredProcess& process, std::int64_t many, const Peak& peak) {
    if (!question.filter.matches(process)) return;
    PeakRow& row = groups[peak_name(process, question.group)];
    row.processes = row.processes.value_or(0) + many;
    if (peak.value_kib > row.peak.value_kib) row.peak = peak;
  };
  for (const StoredProcess& process : processes) add(process, 1, by_id.at(process.id));
  // A sum tells the end of its largest, which is when its peak had been reached.
  const auto sums = TRY(load_exit_sums(source.reader, source.range));
  for (const EndSum& sum : sums)
    add(stand_in(sum), sum.count, {0, sum.peak_kib, sum.peak_ms, std::min(sum.first_ms - sum.lived_ms, sum.peak_ms)});
  std::vector<PeakRow> rows;
  for (auto& [name, row] : groups) {
    row.name = name;
    if (row.peak.value_kib > 0) rows.push_back(std::move(row));
  }
  rank_rows(rows);
  return rows;
}

Status fold_marks(const PeakSource& source, const PeakQuestion& question, Peaks& peaks) {
  const std::vector<HighWater> marks = TRY(source.reader.high_water(source.range, told_kinds(question)));
  fold_marks(marks, source.range, SubjectKind::machine, std::nullopt, peaks.machine);
  fold_marks(marks, source.range, SubjectKind::category, Metric::pss, peaks.categories);
  const auto kind = group_kind(question.group);
  if (kind && !peaks.means) fold_marks(marks, source.range, *kind, question.by, peaks.rows);
  return Done{};
}

}  // namespace memoir::query
