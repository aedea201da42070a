#include <algorithm>
#include <map>
#include <unordered_map>

#include "query/commands/peaks/peaks.h"
#include "query/history/marks.h"
#include "query/history/row_plan.h"
#include "query/history/tier.h"
#include "store/exits.h"
#include "store/names.h"

namespace memoir::query {

namespace {

// Inputs of the parts of peaks_from_steps.
struct PeakInput {
  Reader& reader;
  Range range;
  Tier tier = {};
};

constexpr std::size_t kEnoughMarks = 1000;  // number of marks that are ranked
constexpr std::size_t kAllMarks = std::numeric_limits<std::size_t>::max();

// For a bucket without an exact time, the maximum was reached somewhere within it.
Peak highest_of(const Summary& summary, const PeakInput& source, std::int64_t subject = 0) {
  if (!holds_groups(source.tier)) return {subject, *summary.max, summary.max_at_ms, summary.max_at_ms};
  const Range within = max_reached(summary, source.tier);
  return {subject, *summary.max, std::min(within.to_ms, source.range.to_ms), within.from_ms};
}

PeakRow row_of(std::string name, const Summary& summary, const PeakInput& source) {
  const Peak peak = highest_of(summary, source);
  const auto within = peak.before_ms == peak.at_ms ? std::nullopt : std::optional(source.tier);
  return {std::move(name), nullptr, peak, summary.last, summary.last_ms, within};
}

// Returns the summary of a sum. If the maximum is unknown, the highest mean replaces it.
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

// Returns whether the mark replaces the maximum of the intervals. A higher mark does. A mark of the same value does if
// it was reached before the end of the bucket with the maximum, or, if the maximum has an exact time, at that time.
bool replaces(const HighWater& mark, const PeakRow& row) {
  if (mark.value_kib != row.peak.value_kib) return raises(mark.metric, mark.value_kib, row.peak.value_kib);
  return row.within ? mark.at_ms < row.peak.at_ms : mark.at_ms == row.peak.at_ms;
}

// Returns the marks of groups and of the machine that were reached in the range.
Result<std::vector<HighWater>> marks_within(const PeakInput& source, const std::set<SubjectKind>& kinds) {
  const Range range = source.range;
  std::vector<HighWater> marks = TRY(source.reader.high_water(range, kinds));
  std::erase_if(marks, [range](const HighWater& mark) {
    return mark.at_ms < range.from_ms || mark.at_ms > range.to_ms || (mark.metric == Metric::hwm && stood(mark));
  });
  return marks;
}

void fold_marks(const std::vector<HighWater>& marks, SubjectKind kind, std::optional<Metric> metric,
                std::vector<PeakRow>& rows) {
  for (const HighWater& mark : marks) {
    if (mark.subject != kind || (metric && mark.metric != *metric)) continue;
    for (PeakRow& row : rows) {
      if (!is_same(mark, row) || !replaces(mark, row)) continue;
      row.peak = {row.peak.subject, mark.value_kib, mark.at_ms, mark.before_ms, mark.seen_by};
      row.within.reset();
    }
  }
}

// Returns the marks of processes that were reached in the range, including unsampled processes: the highest `most`, or
// all if there is a filter. A range of more than two days has very many daily marks, so the all-time marks are read
// instead. They lack processes that were higher outside of the range; for these, the rollups have the maximum.
Result<ProcessMarks> marks_of(const PeakInput& source, const PeakQuery& question, std::size_t most) {
  constexpr std::int64_t few_days_ms = 2 * 86'400'000;
  const bool few_days = source.range.to_ms - source.range.from_ms <= few_days_ms;
  return source.reader.process_marks(few_days ? std::optional(source.range) : std::nullopt, source.range, question.by,
                                     question.filter.takes_all() ? most : kAllMarks);
}

// Returns whether the mark may have been reached before the range.
bool may_be_earlier(const HighWater& mark, const PeakQuery& question) {
  return question.by == Metric::hwm && stood(mark);
}

bool reads_whole_groups(const PeakQuery& question) {
  return group_kind(question.group) && question.filter.takes_all();
}

// Returns the rows of groups. For a group without its own rollups, the highest sum is unknown: its highest mean
// replaces it.
Result<std::vector<PeakRow>> group_rows(const PeakInput& source, const PeakQuery& question, LeftOutRows& left_out) {
  const MakeSum make = TRY(sums_over(source.reader, source.tier, source.range));
  RowPlan plan(question.group, question.filter, question.max_rows);
  std::vector<SubjectSum> sums;
  TRY(visit_rows(source.reader, {source.tier, SubjectKind::process, {}, source.range, {question.by}}, plan,
                 RowRank::highest, [&](std::size_t row, const SubjectInterval& of, bool gone) {
                   if (row == RowPlan::kLeftOut) return;
                   while (sums.size() <= row) sums.push_back(make());
                   sums[row].add(of, gone);
                 }));
  std::vector<PeakRow> rows;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Summary summary = summary_of(sums[i]);
    if (summary.max) rows.push_back(row_of(plan.rows()[i].name, summary, source));
  }
  left_out = plan.left_out();
  std::ranges::sort(rows, {}, &PeakRow::name);
  rank_rows(rows);
  return rows;
}

// Returns the highest VmHWM of a single process in each identity.
Result<std::vector<PeakRow>> identity_marks(const PeakInput& source) {
  std::vector<PeakRow> rows =
      rows_of(TRY(marks_within(source, {SubjectKind::identity})), SubjectKind::identity, Metric::hwm);
  rank_rows(rows);
  return rows;
}

// Returns the highest VmHWM of a single process in each group of another kind, including unsampled processes.
Result<std::vector<PeakRow>> member_marks(const PeakInput& source, const PeakQuery& question) {
  const ProcessMarks marks = TRY(marks_of(source, question, kAllMarks));
  std::unordered_map<std::int64_t, Peak> by_id;
  std::vector<std::int64_t> ids;
  for (const HighWater& mark : marks.marks) {
    if (may_be_earlier(mark, question)) continue;
    if (by_id.emplace(mark.subject_id, peak_of(mark)).second) ids.push_back(mark.subject_id);
  }
  std::map<std::string, PeakRow> groups;
  const auto add = [&](const StoredProcess& process, std::int64_t many, const Peak& peak) {
    if (!question.filter.matches(process)) return;
    PeakRow& row = groups[peak_name(process, question.group)];
    row.processes = row.processes.value_or(0) + many;
    if (peak.value_kib > row.peak.value_kib) row.peak = peak;
  };
  TRY(visit_processes_by_id(source.reader, ids,
                            [&](const StoredProcess& process) { add(process, 1, by_id.at(process.id)); }));
  // A sum of exits has the exit time of its largest process: the peak was reached before that.
  const auto sums = TRY(load_exit_sums(source.reader, source.range));
  for (const ExitSum& sum : sums)
    add(stand_in(sum), sum.count, {0, sum.peak_kib, sum.peak_ms, std::min(sum.first_ms - sum.lived_ms, sum.peak_ms)});
  std::vector<PeakRow> rows;
  for (auto& [name, row] : groups) {
    row.name = name;
    if (row.peak.value_kib > 0) rows.push_back(std::move(row));
  }
  rank_rows(rows);
  return rows;
}

// Replaces peaks by marks of the range that are at least as high: a mark has the exact time of the peak, and its
// source.
Status fold_marks(const PeakInput& source, const PeakQuery& question, Peaks& peaks) {
  const std::vector<HighWater> marks = TRY(marks_within(source, reported_kinds(question)));
  fold_marks(marks, SubjectKind::machine, std::nullopt, peaks.machine);
  fold_marks(marks, SubjectKind::category, Metric::pss, peaks.categories);
  const auto kind = group_kind(question.group);
  if (kind && !peaks.means) fold_marks(marks, *kind, question.by, peaks.rows);
  return Done{};
}

// Inverts an interval, so that its maximum is the lowest value.
Interval below(const Interval& interval) {
  const auto minus = [](std::optional<std::int64_t> value) { return value ? std::optional(-*value) : std::nullopt; };
  Interval turned = interval;
  std::swap(turned.min, turned.max);
  std::swap(turned.min_at_ms, turned.max_at_ms);
  for (auto* const value : {&turned.min, &turned.mean, &turned.max, &turned.last}) *value = minus(*value);
  return turned;
}

Result<std::vector<PeakRow>> machine_rows(const PeakInput& source) {
  const std::vector<Metric> metrics(kMachinePeaks.begin(), kMachinePeaks.end());
  std::map<Metric, Fold> folds;
  TRY(source.reader.history({source.tier, SubjectKind::machine, {}, source.range, metrics},
                            [&](const SubjectInterval& of) {
                              folds[of.metric].add(info_of(of.metric).lowest ? below(of.interval) : of.interval);
                            }));
  std::vector<PeakRow> rows;
  for (const Metric metric : metrics) {
    const Summary summary = folds[metric].summary();
    if (!summary.max) continue;
    PeakRow row = row_of(std::string(to_string(metric)), summary, source);
    if (info_of(metric).lowest) {
      row.peak.value_kib = -row.peak.value_kib;
      row.now_kib = -*row.now_kib;
    }
    rows.push_back(row);
  }
  return rows;
}

// Returns a row for each category. `exact` gets the share of rollup values that is exact.
Result<std::vector<PeakRow>> category_rows(const PeakInput& source, Metric by, ExactShare* exact = nullptr) {
  std::map<std::string, Fold> folds;
  TRY(visit_groups(source.reader, {source.tier, SubjectKind::category, {}, source.range, {by}},
                   [&](const std::string& name, const SubjectInterval& of) {
                     folds[name].add(of.interval);
                     if (exact != nullptr && holds_groups(source.tier)) exact->add(of.interval);
                   }));
  std::vector<PeakRow> rows;
  for (const auto& [name, fold] : folds) {
    const Summary summary = fold.summary();
    if (summary.max) rows.push_back(row_of(name, summary, source));
  }
  rank_rows(rows);
  return rows;
}

// One process in the range.
struct Life {
  HighWaterFold high_water;
  Fold fold;  // fold of resident memory, or of the queried metric
  std::optional<Peak> mark;

  bool is_known() const { return fold.summary().max || high_water.found(); }
};

bool is_newborn(const StoredProcess& process, Range range) {
  return (process.info.key.exec_count > 0 ? process.first_ms : process.info.start_ms) >= range.from_ms;
}

std::optional<PeakRow> row_of(const PlannedRow& planned, const Life& life, const PeakInput& source) {
  const Summary summary = life.fold.summary();
  const auto raised = life.high_water.found();
  if (!summary.max && !raised && !life.mark) return std::nullopt;
  PeakRow row{planned.name, planned.process, {}, summary.last, summary.last_ms};
  if (raised) {
    row.peak = {row.process->id, raised->value_kib, raised->at_ms, raised->at_ms};
  } else if (summary.max) {
    row.peak = highest_of(summary, source, row.process->id);
  }
  if (life.mark && life.mark->value_kib >= row.peak.value_kib) {
    row.peak = *life.mark;
  } else if (row.peak.before_ms != row.peak.at_ms) {
    row.within = source.tier;
  }
  return row;
}

// Returns the metrics to read. For VmHWM, RSS is read, too; from rollups only RSS, because the store's marks replace
// VmHWM.
std::vector<Metric> metrics_of(const PeakInput& source, Metric by) {
  if (by != Metric::hwm) return {by};
  return holds_groups(source.tier) ? std::vector{Metric::rss} : std::vector{Metric::rss, Metric::hwm};
}

// Adds processes that no tick observed, and processes with a mark above the memory of all omitted rows.
Status add_marked(Reader& reader, const PeakQuery& question, const std::vector<HighWater>& marks, RowPlan& plan) {
  std::vector<std::int64_t> ids;
  std::unordered_map<std::int64_t, std::int64_t> marks_kib;
  for (const HighWater& mark : marks) {
    const RowPlan::Place* const place = plan.find(mark.subject_id);
    const bool left_out = place != nullptr && place->row == RowPlan::kLeftOut;
    if (left_out && may_be_earlier(mark, question)) continue;
    if (left_out ? mark.value_kib <= plan.left_out().highest_kib : place != nullptr) continue;
    if (marks_kib.emplace(mark.subject_id, mark.value_kib).second) ids.push_back(mark.subject_id);
  }
  return visit_processes_by_id(
      reader, ids, [&](const StoredProcess& process) { plan.add_marked(process, marks_kib.at(process.id)); });
}

Result<std::vector<PeakRow>> process_rows(const PeakInput& source, const PeakQuery& question, LeftOutRows& left_out) {
  RowPlan plan(question.group, question.filter, question.max_rows);
  std::vector<Life> lives;
  std::optional<std::int64_t> resident;
  const auto add = [&](std::size_t row, const SubjectInterval& of, bool) {
    if (row == RowPlan::kLeftOut) return;
    lives.resize(plan.rows().size());
    if (of.metric == Metric::hwm) {
      return lives[row].high_water.add(of.interval.max_at_ms.value_or(of.interval.from_ms), resident, of.interval.max,
                                       is_newborn(*plan.rows()[row].process, question.range));
    }
    lives[row].fold.add(of.interval);
    resident = of.interval.mean;
  };
  const bool complete = TRY(
      visit_rows(source.reader, {source.tier, SubjectKind::process, {}, source.range, metrics_of(source, question.by)},
                 plan, RowRank::highest, add));
  const ProcessMarks marks = TRY(marks_of(source, question, complete ? kAllMarks : kEnoughMarks));
  TRY(add_marked(source.reader, question, marks.marks, plan));
  lives.resize(plan.rows().size());
  for (const HighWater& mark : marks.marks) {
    const RowPlan::Place* const place = plan.find(mark.subject_id);
    if (place == nullptr || place->row == RowPlan::kLeftOut) continue;
    Life& life = lives[place->row];
    if (!may_be_earlier(mark, question) || !life.is_known()) life.mark = peak_of(mark);
  }
  std::vector<PeakRow> rows;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (auto row = row_of(plan.rows()[i], lives[i], source)) rows.push_back(*std::move(row));
  }
  left_out = plan.left_out();
  rank_rows(rows);
  return rows;
}

// Sets the source of a peak: a tick if one has the same time, otherwise a scan or the exit.
Status add_seen_by(Reader& reader, PeakRow& row) {
  Peak& peak = row.peak;
  if (peak.seen_by || row.within) return Done{};
  const std::optional<StoredTick> tick = TRY(reader.tick_at(peak.at_ms));
  if (!tick) return Done{};
  peak.seen_by = tick->begin.wall_ms == peak.at_ms ? Origin::sample : Origin::scan;
  if (!row.process || peak.seen_by == Origin::sample) return Done{};
  const auto end = TRY(load_exit_of(reader, row.process->id));
  if (end && end->exited_ms == peak.at_ms) peak.seen_by = Origin::exit;
  return Done{};
}

// Sets the earliest possible time of a peak, which is the time of the previous tick. A peak at the start of the range
// has none.
Status add_tick_before(Reader& reader, std::int64_t from_ms, PeakRow& row) {
  if (row.peak.at_ms <= from_ms || row.peak.before_ms != row.peak.at_ms) return Done{};
  const std::optional<StoredTick> before = TRY(reader.tick_at(row.peak.at_ms - 1));
  if (before) row.peak.before_ms = before->begin.wall_ms;
  if (row.process)
    row.peak.before_ms = std::max(row.peak.before_ms, std::min(row.process->info.start_ms, row.peak.at_ms));
  return Done{};
}

Status add_ticks_before(Reader& reader, std::int64_t from_ms, std::vector<PeakRow>& rows) {
  for (PeakRow& row : rows) {
    TRY(add_seen_by(reader, row));
    TRY(add_tick_before(reader, from_ms, row));
  }
  return Done{};
}

// Takes the time of a peak from the ticks of its bucket of 5 minutes, if they are kept. Reading the ticks of longer
// buckets would take too long.
Status refine_by_ticks(const Context& context, Metric by, std::vector<PeakRow>& rows) {
  for (PeakRow& row : rows) {
    if (row.within != Tier::five_minutes) continue;
    const Range bucket{row.peak.before_ms, row.peak.at_ms};
    const Tier finest = TRY(tier_of(context, bucket, Reads::all));
    if (holds_groups(finest)) continue;
    const std::vector<PeakRow> among = TRY(category_rows({context.reader, bucket, finest}, by));
    const auto same = std::ranges::find(among, row.name, &PeakRow::name);
    if (same == among.end() || same->peak.value_kib < row.peak.value_kib) continue;
    row.within.reset();
    row.peak = same->peak;
  }
  return Done{};
}

// Sets the most exact known time of each peak, and from rollups the last memory of a process.
Status add_exact_times(const Context& context, const PeakQuery& question, const PeakInput& whole, Peaks& peaks) {
  const std::int64_t from_ms = question.range.from_ms;
  TRY(fold_marks(whole, question, peaks));
  TRY(refine_by_ticks(context, Metric::pss, peaks.categories));
  if (question.group == "category" && !peaks.means) TRY(refine_by_ticks(context, question.by, peaks.rows));
  for (std::vector<PeakRow>* part : {&peaks.machine, &peaks.categories, &peaks.rows}) {
    TRY(add_ticks_before(context.reader, from_ms, *part));
  }
  if (!holds_groups(peaks.tier) || question.group != "process") return Done{};
  return add_last_sights(context, question, nullptr, peaks);
}

Result<std::vector<PeakRow>> asked_rows(const PeakInput& source, const PeakQuery& question, Peaks& peaks) {
  const bool process = question.group == "process";
  if (question.group == "category" && question.filter.takes_all())
    return category_rows(source, question.by, &peaks.exact);
  if (!process && question.by == Metric::hwm)
    return marks_members(question) ? identity_marks(source) : member_marks(source, question);
  return process ? process_rows(source, question, peaks.left_out) : group_rows(source, question, peaks.left_out);
}

}  // namespace

Result<Peaks> peaks_from_steps(const Context& context, const PeakQuery& question) {
  const bool sums = question.group != "process" && !reads_whole_groups(question);
  const Tier tier = TRY(tier_of(context, question.range, sums ? Reads::sums : Reads::all));
  // Rollups have the maxima of the machine and of categories, so their tier may be coarser.
  const PeakInput whole{context.reader, question.range, TRY(tier_of(context, question.range, Reads::all))};
  const PeakInput source{context.reader, question.range, tier};
  Peaks peaks;
  peaks.tier = tier;
  peaks.means = holds_groups(tier) && sums;
  peaks.machine = TRY(machine_rows(whole));
  peaks.rows = TRY(asked_rows(source, question, peaks));
  limit_peaks(context, question, peaks);
  if (question.group != "category") {
    peaks.categories = TRY(category_rows(whole, Metric::pss, &peaks.exact));
  }
  TRY(add_exact_times(context, question, whole, peaks));
  return peaks;
}

}  // namespace memoir::query
