#pragma once

// Compares two states: the memory of each process or group at the start and at the end of a range.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/grouping.h"
#include "query/args/filter.h"
#include "query/state/state.h"

namespace memoir::query {

struct Change {
  std::string name;                    // common property of the group's members
  const ProcessUse* before = nullptr;  // state at the start, for a row of one process
  const ProcessUse* after = nullptr;
  Tally was;
  Tally is;

  // Unknown or absent values count as 0.
  std::int64_t change_kib(Metric metric) const;
  // "new", "gone", "grown", "shrunk", "same"
  std::string_view what(Metric metric) const;
};

// Returns the process of a row that has only one process, as last observed.
inline const ProcessUse& last_seen(const Change& row) {
  return row.after != nullptr ? *row.after : *row.before;
}

struct RangeEnds {
  State begin;
  State end;
};

// Returns the states at both ends of a range. A range that starts before the first tick is compared from that tick on.
// Returns nullopt if the range ends before the first tick.
Result<std::optional<RangeEnds>> load_ends(const Context& context, Range range);

// Changes keyed by row: a process by its row in the store, a group by its name. They point into the states.
class Changes {
 public:
  explicit Changes(std::string group) : alone_(group == "process"), group_(std::move(group)) {}

  // Adds one end of the range. Groups are added as stored, if the store has them.
  Status add(Reader& reader, const Filter& filter, const State& state, bool after);
  Status add(Reader& reader, const Filter& filter, const RangeEnds& ends);

  // Returns nullptr if the row is at neither end. `process_id` is 0 for groups, `name` is empty for processes.
  const Change* find(std::int64_t process_id, const std::string& name) const;

  const std::vector<Change>& rows() const { return rows_; }
  std::vector<Change> take() { return std::move(rows_); }

 private:
  Change& row(std::int64_t process_id, const std::string& name);
  void add(const ProcessUse& process, bool after);

  bool alone_;
  std::string group_;
  std::map<std::pair<std::int64_t, std::string>, std::size_t> index_;
  std::vector<Change> rows_;
};

// A row's usage over a range; an absent process counts as 0. nullopt if the memory of a process that ran is unknown.
struct MemoryAtEnds {
  std::optional<std::int64_t> first_kib;
  std::optional<std::int64_t> last_kib;
  std::string_view what;  // as from Change::what(), or "came and went"

  std::optional<std::int64_t> growth_kib() const { return difference(last_kib, first_kib); }
};

// If the row is at neither end, `change` is nullptr.
MemoryAtEnds memory_at_ends(const Change* change, Metric metric);

// Human-readable last value: "gone" if it is absent.
Value last_or_gone(const MemoryAtEnds& held);

}  // namespace memoir::query
