#include <set>

#include "query/answer/tier.h"
#include "query/commands/top/fold.h"

namespace memoir::query {
namespace {

TopRow row_of(const Change& change) {
  TopRow row;
  row.name = change.name;
  row.processes = change.is.processes();
  if (change.after != nullptr) row.process = change.after->process;
  return row;
}

}  // namespace

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
  if (!all || !holds_groups(question.tier)) return Done{};
  for (const Change& change : changes.rows()) {
    if (change.is.processes() > 0 && !seen.contains(&change))
      fold.rows.emplace_back(row_of(change)).at_ends = held_at_ends(&change, question.metric);
  }
  return Done{};
}

}  // namespace memoir::query
