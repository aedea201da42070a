#include "query/state/changes.h"

#include <algorithm>

#include "query/state/process_columns.h"

namespace memoir::query {

std::int64_t Change::change_kib(Metric metric) const {
  return is.kib(metric).value_or(0) - was.kib(metric).value_or(0);
}

std::string_view Change::what(Metric metric) const {
  if (was.processes() == 0) return "new";
  if (is.processes() == 0) return "gone";
  const std::int64_t change = change_kib(metric);
  return change > 0 ? "grown" : change < 0 ? "shrunk" : "same";
}

Change& Changes::row(std::int64_t process_id, const std::string& name) {
  const auto [found, fresh] = index_.try_emplace({process_id, name}, rows_.size());
  if (fresh) rows_.emplace_back().name = name;
  return rows_[found->second];
}

void Changes::add(const ProcessUse& process, bool after) {
  Change& of = alone_ ? row(process.process->id, "") : row(0, group_key(*process.process, group_));
  if (alone_) {
    (after ? of.after : of.before) = &process;
    of.name = shown_command(process.process->info, state_letter(process));
  }
  add_to(after ? of.is : of.was, process);
}

Status Changes::add(Reader& reader, const Filter& filter, const State& state, bool after) {
  const auto groups =
      TRY(filter.takes_all() ? kept_groups(reader, state, group_) : Result(std::optional<std::vector<GroupState>>()));
  if (groups) {
    for (const GroupState& group : *groups) {
      Change& of = row(0, group.name);
      (after ? of.is : of.was).add_mean(group.kib, group.processes);
    }
    return Done{};
  }
  for (const ProcessUse& process : state.processes) {
    if (filter.matches(*process.process)) add(process, after);
  }
  return Done{};
}

Status Changes::add(Reader& reader, const Filter& filter, const RangeEnds& ends) {
  const Status begin = add(reader, filter, ends.begin, false);
  return begin ? add(reader, filter, ends.end, true) : begin;
}

const Change* Changes::find(std::int64_t process_id, const std::string& name) const {
  const auto found = index_.find({process_id, name});
  return found == index_.end() ? nullptr : &rows_[found->second];
}

Result<std::optional<RangeEnds>> load_ends(const Context& context, Range range) {
  const std::int64_t from_ms = std::max(range.from_ms, context.file.first_tick_ms);
  if (context.file.ticks == 0 || from_ms > range.to_ms) return std::optional<RangeEnds>();
  std::optional<State> begin = TRY(load_state(context, from_ms));
  std::optional<State> end = TRY(load_state(context, range.to_ms));
  if (!begin || !end) return std::optional<RangeEnds>();
  return std::optional(RangeEnds{*std::move(begin), *std::move(end)});
}

MemoryAtEnds memory_at_ends(const Change* change, Metric metric) {
  if (change == nullptr) return {0, 0, "came and went"};
  const auto held = [metric](const Tally& tally) {
    return tally.processes() == 0 ? std::optional<std::int64_t>(0) : tally.kib(metric);
  };
  return {held(change->was), held(change->is), change->what(metric)};
}

Value last_or_gone(const MemoryAtEnds& held) {
  return held.what == "gone" || held.what == "came and went" ? Value("gone") : held.last_kib;
}

}  // namespace memoir::query
