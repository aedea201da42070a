#include <algorithm>
#include <cstdlib>

#include "query/commands/diff/diff.h"

namespace memoir::query {

Status compare(Reader& reader, const DiffQuestion& question, Diff& diff) {
  const Metric by = question.by;
  Changes rows(question.group);
  Change others;
  for (const State* state : {&diff.before, &diff.after}) {
    const bool after = state == &diff.after;
    TRY(rows.add(reader, question.filter, *state, after));
    for (const HeldProcess& process : state->processes) {
      const bool chosen = question.filter.matches(*process.process);
      Tally& sum = chosen ? (after ? diff.is : diff.was) : (after ? others.is : others.was);
      add_to(sum, process);
    }
  }
  if (!group_kind(question.group) || !question.filter.takes_all()) {
    diff.short_lived_kib = short_lived_kib(diff.after, by).value_or(0) - short_lived_kib(diff.before, by).value_or(0);
  }
  diff.others_kib = others.change_kib(by);
  diff.rows = rows.take();
  diff.unchanged =
      static_cast<std::int64_t>(std::erase_if(diff.rows, [by](const Change& row) { return row.what(by) == "same"; }));
  std::ranges::stable_sort(diff.rows, std::greater(), [by](const Change& row) { return std::abs(row.change_kib(by)); });
  diff.parts_before = machine_parts_of(diff.before, !diff.rolled());
  diff.parts_after = machine_parts_of(diff.after, !diff.rolled());
  return Done{};
}

}  // namespace memoir::query
