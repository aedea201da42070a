#pragma once

// Two states set against each other: what each process or group held at the begin and at the end of a range.

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
  std::string name;                     // what the group's members share
  const HeldProcess* before = nullptr;  // of a row that is one process
  const HeldProcess* after = nullptr;
  Tally was;
  Tally is;

  // What was not known, or not there, counts as 0.
  std::int64_t change_kib(Metric metric) const;
  // "new", "gone", "grown", "shrunk", "same"
  std::string_view what(Metric metric) const;
};

struct RangeEnds {
  State begin;
  State end;
};

// The states at both ends of a range; where it begins before the first tick of all, at that one. Absent where even that
// is after its end.
Result<std::optional<RangeEnds>> load_ends(const Context& context, Range range);

// By row: of a process by its row in the store, of a group by its name. They point into the states.
class Changes {
 public:
  explicit Changes(std::string group) : alone_(group == "process"), group_(std::move(group)) {}

  // One end; of groups as the store keeps them where it does.
  Status add(Reader& reader, const Filter& filter, const State& state, bool after);
  Status add(Reader& reader, const Filter& filter, const RangeEnds& ends);

  // Null: there at neither end. `process_id` is 0 of groups, `name` empty of processes.
  const Change* find(std::int64_t process_id, const std::string& name) const;

  const std::vector<Change>& rows() const { return rows_; }
  std::vector<Change> take() { return std::move(rows_); }

 private:
  Change& row(std::int64_t process_id, const std::string& name);
  void add(const HeldProcess& process, bool after);

  bool alone_;
  std::string group_;
  std::map<std::pair<std::int64_t, std::string>, std::size_t> index_;
  std::vector<Change> rows_;
};

// Of a row over a range. Who was not there held nothing; absent: it was there, and is not known.
struct HeldAtEnds {
  std::optional<std::int64_t> first_kib;
  std::optional<std::int64_t> last_kib;
  std::string_view what;  // as of Change; or "came and went"

  std::optional<std::int64_t> growth_kib() const { return difference(last_kib, first_kib); }
};

// Null: there at neither end.
HeldAtEnds held_at_ends(const Change* change, Metric metric);

// What people see of it as the last value: "gone" where it is.
Value last_or_gone(const HeldAtEnds& held);

}  // namespace memoir::query
