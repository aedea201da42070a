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

// Both states by row: of a process by its row in the store, of a group by its name.
class Rows {
 public:
  explicit Rows(const std::string& group) : alone_(group == "process"), group_(group) {}

  void add(const State& state, const ProcessState& process, bool after) {
    DiffRow& row = find(alone_ ? process.process.id : 0, alone_ ? "" : group_key(process.process, group_));
    if (alone_) {
      (after ? row.after : row.before) = &process;
      (after ? row.source_after : row.source_before) = state.rolled() ? "mean" : to_string(process.sample.source);
      row.name = shown_command(process.process.info, process.sample.state);
    }
    add_to(after ? row.is : row.was, state, process.sample);
  }
  void add(const GroupState& group, bool after) {
    (after ? find(0, group.name).is : find(0, group.name).was).add_mean(group.memory, group.processes);
  }

  std::vector<DiffRow> take() { return std::move(rows_); }

 private:
  DiffRow& find(std::int64_t process_id, const std::string& name) {
    const auto [found, fresh] = index_.try_emplace({process_id, name}, rows_.size());
    if (fresh) rows_.emplace_back().name = name;
    return rows_[found->second];
  }

  bool alone_;
  const std::string& group_;
  std::map<std::pair<std::int64_t, std::string>, std::size_t> index_;
  std::vector<DiffRow> rows_;
};

// Rollups do not split what processes map: where one end has it from them, the other is taken so as well.
ProcessMemory unsplit(ProcessMemory memory) {
  using P = ProcessField;
  for (const P field : {P::pss_anon, P::pss_file, P::pss_shmem, P::rss_file, P::rss_shmem}) memory.clear(field);
  return memory;
}

std::optional<MachineParts> parts_of(const State& state, bool split) {
  MappedMemory mapped;
  for (const ProcessState& process : state.snapshot.processes)
    mapped.add(split ? process.sample.memory : unsplit(process.sample.memory));
  mapped.pss_kib += short_lived_kib(state, Metric::pss).value_or(0);
  return machine_parts(state.snapshot.machine.memory, mapped);
}

// One end: its rows, or as the store keeps the groups.
Status add_rows(Reader& reader, const DiffQuestion& question, const State& state, bool after, Rows& rows) {
  const auto kind = group_kind(question.group);
  if (state.rolled() && kind && question.filter.takes_all()) {
    const Result<std::vector<GroupState>> groups = load_groups(reader, state, *kind);
    if (!groups) return groups.error();
    for (const GroupState& group : *groups) rows.add(group, after);
    return Done{};
  }
  for (const ProcessState& process : state.snapshot.processes) {
    if (question.filter.matches(process.process)) rows.add(state, process, after);
  }
  return Done{};
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

Status compare(Reader& reader, const DiffQuestion& question, Diff& diff) {
  const Metric by = question.by;
  Rows rows(question.group);
  Tally others_were;
  Tally others_are;
  for (const State* state : {&diff.before, &diff.after}) {
    const bool after = state == &diff.after;
    const Status added = add_rows(reader, question, *state, after, rows);
    if (!added) return added.error();
    for (const ProcessState& process : state->snapshot.processes) {
      const bool chosen = question.filter.matches(process.process);
      Tally& sum = chosen ? (after ? diff.is : diff.was) : (after ? others_are : others_were);
      add_to(sum, *state, process.sample);
    }
  }
  if (!group_kind(question.group) || !question.filter.takes_all()) {
    diff.short_lived_kib = short_lived_kib(diff.after, by).value_or(0) - short_lived_kib(diff.before, by).value_or(0);
  }
  diff.others_kib = difference(others_were, others_are, question.by);
  diff.rows = rows.take();
  diff.unchanged =
      static_cast<std::int64_t>(std::erase_if(diff.rows, [by](const DiffRow& row) { return row.what(by) == "same"; }));
  std::ranges::stable_sort(diff.rows, [by](const DiffRow& a, const DiffRow& b) {
    return magnitude(a.change_kib(by)) > magnitude(b.change_kib(by));
  });
  diff.parts_before = parts_of(diff.before, !diff.rolled());
  diff.parts_after = parts_of(diff.after, !diff.rolled());
  return Done{};
}

}  // namespace memoir::query
