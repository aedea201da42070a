#include <limits>
#include <set>

#include "query/commands/top/top.h"
#include "query/history/history.h"
#include "query/history/marks.h"
#include "query/history/tier.h"
#include "query/state/state.h"

namespace memoir::query {
namespace {

// Adds a mark, in any order. Marks do not add up and have no mean: the largest counts, with its first observation.
void see_mark(Summary& summary, std::optional<std::int64_t> mark, std::int64_t at_ms) {
  if (!mark || (summary.max && *mark < *summary.max)) return;
  if (mark == summary.max && at_ms >= summary.max_at_ms) return;
  summary.max = mark;
  summary.max_at_ms = at_ms;
}

HistoryQuery history_of(const TopQuery& question, SubjectKind kind) {
  return {question.tier, kind, {}, question.range, {question.metric}};
}

void name_rows(RowPlan plan, TopFold& fold) {
  fold.chosen = plan.processes();
  fold.left_out = plan.left_out();
  std::vector<PlannedRow> planned = plan.take_rows();
  fold.rows.resize(planned.size());
  for (std::size_t i = 0; i < planned.size(); ++i) static_cast<PlannedRow&>(fold.rows[i]) = std::move(planned[i]);
}

// Folds the marks of the days that were reached in the range.
Result<TopFold> fold_marks(Reader& reader, const TopQuery& question, const Filter& filter) {
  constexpr std::size_t enough = 1000;  // number of marks to read if each process is a row
  const bool alone = question.group == "process" && filter.takes_all();
  const ProcessMarks marks = TRY(reader.process_marks(question.range, question.range, Metric::hwm,
                                                      alone ? enough : std::numeric_limits<std::size_t>::max()));
  TopFold fold;
  RowPlan plan(question.group, filter, question.max_rows);
  TRY(visit_processes_by_id(reader, transformed(marks.marks, &HighWater::subject_id),
                            [&plan](const StoredProcess& process) { plan.add(process); }));
  std::vector<double> highest(plan.rows().size());
  for (const HighWater& mark : marks.marks) {
    const RowPlan::Place* const place = plan.find(mark.subject_id);
    if (place != nullptr) highest[place->row] = std::max(highest[place->row], static_cast<double>(mark.value_kib));
  }
  TRY(plan.keep_largest(reader, highest));
  fold.rows.resize(plan.rows().size());
  for (const HighWater& mark : marks.marks) {
    const RowPlan::Place* const place = plan.find(mark.subject_id);
    if (place != nullptr && place->row != RowPlan::kLeftOut)
      see_mark(fold.rows[place->row].summary, mark.value_kib, mark.at_ms);
  }
  name_rows(std::move(plan), fold);
  return fold;
}

TopRow row_of(const Change& change) {
  TopRow row;
  row.name = change.name;
  row.processes = change.is.processes();
  if (change.after != nullptr) row.process = std::make_shared<const StoredProcess>(*change.after->process);
  return row;
}

}  // namespace

Result<TopFold> fold_top(Reader& reader, const TopQuery& question, const Filter& filter) {
  if (!holds_metric(question.tier, question.metric)) return fold_marks(reader, question, filter);
  const MakeSum make = TRY(sums_over(reader, question.tier, question.range));
  const bool adds_up = info_of(question.metric).adds_up;
  TopFold fold;
  RowPlan plan(question.group, filter, question.max_rows);
  const auto add = [&](std::size_t at, const SubjectInterval& of, bool gone) {
    fold.held.all += held_over(of.interval);
    fold.held.chosen += held_over(of.interval);
    fold.held.exact.add(of.interval);
    if (at == RowPlan::kLeftOut) {
      fold.held.left_out += held_over(of.interval);
      return;
    }
    if (at >= fold.rows.size()) fold.rows.resize(plan.rows().size());
    TopRow& row = fold.rows[at];
    if (!adds_up) return see_mark(row.summary, of.interval.max, of.interval.from_ms);
    if (question.group == "process") return row.fold.add(of.interval);
    if (!row.sum) row.sum = make();
    row.sum->add(of, gone);
  };
  fold.complete = TRY(visit_rows(reader, history_of(question, SubjectKind::process), plan,
                                 adds_up ? RowRank::memory : RowRank::highest, add,
                                 [&fold](const SubjectInterval& of) { fold.held.all += held_over(of.interval); }));
  name_rows(std::move(plan), fold);
  if (fold.complete) return fold;
  // The sum over all categories includes processes that were too short-lived for their own rollups.
  fold.held.all = 0;
  TRY(reader.history(history_of(question, SubjectKind::category),
                     [&fold](const SubjectInterval& of) { fold.held.all += held_over(of.interval); }));
  return fold;
}

Status add_growth(const Context& context, const TopQuery& question, const Filter& filter, bool all, TopFold& fold) {
  std::optional<RangeEnds> ends = TRY(load_ends(context, question.range));
  if (!ends) return Done{};
  fold.ends = *std::move(ends);
  Changes changes(question.group);
  TRY(changes.add(context.reader, filter, fold.ends));
  std::set<const Change*> seen;
  for (TopRow& row : fold.rows) {
    const Change* change = row.process ? changes.find(row.process->id, "") : changes.find(0, row.name);
    row.at_ends = memory_at_ends(change, question.metric);
    seen.insert(change);
  }
  if (!all || fold.complete) return Done{};
  for (const Change& change : changes.rows()) {
    if (change.is.processes() > 0 && !seen.contains(&change))
      fold.rows.emplace_back(row_of(change)).at_ends = memory_at_ends(&change, question.metric);
  }
  return Done{};
}

}  // namespace memoir::query
