#include <algorithm>
#include <map>

#include "query/diff.h"
#include "query/process_columns.h"

namespace memoir::query {

namespace {

std::int64_t difference(const Tally& was, const Tally& is, Metric metric) {
  return is.kib(metric).value_or(0) - was.kib(metric).value_or(0);
}

std::int64_t magnitude(std::int64_t kib) {
  return kib < 0 ? -kib : kib;
}

// Both snapshots by row: of a process by its row in the store, of a group by its name.
class Rows {
 public:
  explicit Rows(const std::string& group) : alone_(group == "process"), group_(group) {}

  void add(const ProcessState& state, bool after) {
    DiffRow& row = find(state);
    if (alone_) {
      (after ? row.after : row.before) = &state;
      row.name = shown_command(state.process.info, state.sample.state);
    }
    (after ? row.is : row.was).add(state.sample);
  }

  std::vector<DiffRow> take() { return std::move(rows_); }

 private:
  DiffRow& find(const ProcessState& state) {
    const std::string name = alone_ ? std::string() : group_key(state.process, group_);
    const auto [found, fresh] = index_.try_emplace({alone_ ? state.process.id : 0, name}, rows_.size());
    if (fresh) rows_.emplace_back().name = name;
    return rows_[found->second];
  }

  bool alone_;
  const std::string& group_;
  std::map<std::pair<std::int64_t, std::string>, std::size_t> index_;
  std::vector<DiffRow> rows_;
};

std::optional<MachineParts> parts_of(const Snapshot& snapshot) {
  MappedMemory mapped;
  for (const ProcessState& state : snapshot.processes) mapped.add(state.sample.memory);
  return machine_parts(snapshot.machine.memory, mapped);
}

}  // namespace

std::int64_t DiffRow::change_kib(Metric metric) const {
  return difference(was, is, metric);
}

std::string_view DiffRow::what(Metric metric) const {
  if (was.processes() == 0) return "new";
  if (is.processes() == 0) return "gone";
  const std::int64_t change = change_kib(metric);
  return change > 0 ? "grown" : change < 0 ? "shrunk" : "same";
}

void compare(const DiffQuestion& question, Diff& diff) {
  Rows rows(question.group);
  Tally others_were;
  Tally others_are;
  for (const Snapshot* snapshot : {&diff.before, &diff.after}) {
    const bool after = snapshot == &diff.after;
    for (const ProcessState& state : snapshot->processes) {
      const bool chosen = question.filter.matches(state.process.info);
      if (chosen) rows.add(state, after);
      Tally& sum = chosen ? (after ? diff.is : diff.was) : (after ? others_are : others_were);
      sum.add(state.sample);
    }
  }
  diff.others_kib = difference(others_were, others_are, question.by);
  diff.rows = rows.take();
  const Metric by = question.by;
  diff.unchanged =
      static_cast<std::int64_t>(std::erase_if(diff.rows, [by](const DiffRow& row) { return row.what(by) == "same"; }));
  std::ranges::stable_sort(diff.rows, [by](const DiffRow& a, const DiffRow& b) {
    return magnitude(a.change_kib(by)) > magnitude(b.change_kib(by));
  });
  diff.parts_before = parts_of(diff.before);
  diff.parts_after = parts_of(diff.after);
}

}  // namespace memoir::query
