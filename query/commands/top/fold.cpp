#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "query/commands/top/top.h"
#include "query/history/history.h"
#include "query/history/marks.h"
#include "query/history/tier.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"

namespace memoir::query {
namespace {

// Which process goes into which row; others are filtered out.
struct Place {
  std::size_t row = 0;
  std::optional<std::int64_t> gone_ms;
};
using Plan = std::unordered_map<std::int64_t, Place>;

Plan plan_rows(const TopQuestion& question, const Filter& filter, const std::vector<StoredProcess>& processes,
               TopFold& fold) {
  Plan plan;
  std::map<std::string, std::size_t> index;
  for (const StoredProcess& process : processes) {
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
    plan[process.id] = {at, process.gone_ms};
  }
  fold.chosen = static_cast<std::int64_t>(plan.size());
  return plan;
}

// Marks do not add up, and have no mean: the largest counts, from when it was first seen. They come in any order.
void see_mark(Summary& summary, std::optional<std::int64_t> mark, std::int64_t at_ms) {
  if (!mark || (summary.max && *mark < *summary.max)) return;
  if (mark == summary.max && at_ms >= summary.max_at_ms) return;
  summary.max = mark;
  summary.max_at_ms = at_ms;
}

// Feeds the rows.
class Feeder {
 public:
  Feeder(const TopQuestion& question, MakeSum make) : question_(question), make_(std::move(make)) {}

  void feed(const SubjectInterval& of, bool gone, TopRow& row, TopHeld& held) const {
    held.chosen += held_over(of.interval);
    held.exact.add(of.interval);
    if (!info_of(question_.metric).adds_up) return see_mark(row.summary, of.interval.max, of.interval.from_ms);
    if (row.process != nullptr) return row.fold.add(of.interval);
    if (!row.sum) row.sum = make_();
    row.sum->add(of.subject_id, of.interval, gone);
  }

 private:
  const TopQuestion& question_;
  MakeSum make_;
};

HistoryQuestion history_of(const TopQuestion& question, SubjectKind kind) {
  return {question.tier, kind, {}, question.range, {question.metric}};
}

// The marks of the days, as far as they were reached in the range.
Result<TopFold> fold_marks(Reader& reader, const TopQuestion& question, const Filter& filter) {
  constexpr std::size_t enough = 1000;  // of those that are ranked one by one
  const bool alone = question.group == "process" && filter.takes_all();
  const ProcessMarks marks = TRY(reader.process_marks(question.range, question.range, Metric::hwm,
                                                      alone ? enough : std::numeric_limits<std::size_t>::max()));
  TopFold fold;
  fold.marked = TRY(processes_of(reader, marks));
  const Plan plan = plan_rows(question, filter, fold.marked, fold);
  for (const HighWater& mark : marks.marks) {
    const auto place = plan.find(mark.subject_id);
    if (place != plan.end()) see_mark(fold.rows[place->second.row].summary, mark.value_kib, mark.at_ms);
  }
  return fold;
}

// The sum over all categories: with the processes that were too short-lived for rollups of their own.
Status add_held_by_all(Reader& reader, const TopQuestion& question, TopHeld& held) {
  return reader.history(history_of(question, SubjectKind::category),
                        [&held](const SubjectInterval& of) { held.all += held_over(of.interval); });
}

// Groups that are subjects of their own, also those of which no process is known any more.
Status fold_whole_groups(Reader& reader, const TopQuestion& question, SubjectKind kind, const Feeder& feeder,
                         TopFold& fold) {
  std::unordered_map<std::string, std::size_t> row_of;  // identities of one name may differ in the program's path
  TRY(visit_groups(reader, history_of(question, kind), [&](const std::string& name, const SubjectInterval& of) {
    const auto [at, fresh] = row_of.try_emplace(name, fold.rows.size());
    if (fresh) fold.rows.emplace_back().name = name;
    TopRow& row = fold.rows[at->second];
    row.processes = std::max(row.processes, of.processes);
    feeder.feed(of, false, row, fold.held);
  }));
  return add_held_by_all(reader, question, fold.held);
}

Status fold_processes(Reader& reader, const TopQuestion& question, const Filter& filter, const Feeder& feeder,
                      TopFold& fold) {
  fold.history = TRY(ProcessHistory::load(reader, history_of(question, SubjectKind::process)));
  const ProcessHistory& history = *fold.history;
  const Plan plan = plan_rows(question, filter, history.processes(), fold);
  TRY(history.visit([&](const SubjectInterval& of) {
    if (history.complete()) fold.held.all += held_over(of.interval);
    const auto place = plan.find(of.subject_id);
    if (place == plan.end()) return;
    const auto& [row, gone_ms] = place->second;
    feeder.feed(of, gone_ms == of.interval.until_ms, fold.rows[row], fold.held);
  }));
  return history.complete() ? Status(Done{}) : add_held_by_all(reader, question, fold.held);
}

TopRow row_of(const Change& change) {
  TopRow row;
  row.name = change.name;
  row.processes = change.is.processes();
  if (change.after != nullptr) row.process = change.after->process;
  return row;
}

}  // namespace

Result<TopFold> fold_top(Reader& reader, const TopQuestion& question, const Filter& filter) {
  if (!holds_metric(question.tier, question.metric)) return fold_marks(reader, question, filter);
  const Feeder feeder(question, TRY(sums_over(reader, question.tier, question.range)));
  TopFold fold;
  const auto kind = filter.takes_all() ? kept_kind(question.tier, question.group) : std::nullopt;
  TRY(kind ? fold_whole_groups(reader, question, *kind, feeder, fold)
           : fold_processes(reader, question, filter, feeder, fold));
  return fold;
}

Status add_growth(const Context& context, const TopQuestion& question, const Filter& filter, bool all, TopFold& fold) {
  std::optional<RangeEnds> ends = TRY(load_ends(context, question.range));
  if (!ends) return Done{};
  fold.ends = *std::move(ends);
  Changes changes(question.group);
  TRY(changes.add(context.reader, filter, fold.ends));
  std::set<const Change*> seen;
  for (TopRow& row : fold.rows) {
    const Change* change = row.process != nullptr ? changes.find(row.process->id, "") : changes.find(0, row.name);
    row.at_ends = held_at_ends(change, question.metric);
    seen.insert(change);
  }
  if (!all || holds_short_lived(question.tier)) return Done{};
  for (const Change& change : changes.rows()) {
    if (change.is.processes() > 0 && !seen.contains(&change))
      fold.rows.emplace_back(row_of(change)).at_ends = held_at_ends(&change, question.metric);
  }
  return Done{};
}

}  // namespace memoir::query
