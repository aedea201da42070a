#pragma once

// Deletes what nothing refers to any more: processes that ended before every row of theirs, with their marks;
// events, stretches, runs and boots; and once a day, or where the cap leaves no room, names that no process is of. A
// process has rows in a tier only if it lived long enough (TierShape), so that a short life is forgotten with its raw
// rows; its peaks are in the marks of its identity and its cgroup by then. Categories stay: their peaks do.

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "store/retention/cuts.h"
#include "store/rows/id_set.h"
#include "store/sqlite/statement.h"
#include "store/tables.h"
#include "store/tiers.h"

namespace memoir {

// Which rows of the tables of names are used, in the order of tables_of(TableKind::names). Those of processes are found
// by one look through all of them, some 0.1 s for a hundred thousand: an index of `process` by each of them would be
// written to at each birth, a page of its own each time, which is a fifth of all that a recorder writes where many
// processes live for seconds.
using ReferencedIds = std::vector<IdSet>;
ReferencedIds read_referenced_ids(SQLite::Database& database);

class GarbageCollector {
 public:
  explicit GarbageCollector(SQLite::Database& database);

  // Looks at everybody again.
  void restart();
  // From now on by these cuts, which must live on.
  void begin(const RetentionCuts& cuts);

  // Each a small piece, in an open transaction: false when there is no more to do.
  bool some_processes();
  bool some_events();
  bool some_runs();

  // What no process is of, for as long as `go_on` says; false if there is more, with which the next call goes on.
  // `used` must be of this moment, since the next tick may name any of it again: read right before, and before the
  // transaction that this needs, because it takes long.
  bool unused(const ReferencedIds& used, const std::function<bool()>& go_on);
  // Whether anything may have become unused since the last look was begun, or that is not at its end.
  bool may_find_unused() const { return more_unused_ || look_table_ > 0 || look_id_ > 0; }

 private:
  struct Ended {
    std::int64_t id = 0;
    std::int64_t first_tick_id = 0;
    std::int64_t gone_tick_id = 0;
    std::int64_t start_ms = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::int64_t gone_ms = 0;
  };
  // How far the rows of `process` have been looked through for those of one length of life, in the order of their ends.
  struct Cursor {
    std::int64_t gone_tick_id = 0;
    std::int64_t id = 0;
    bool done = false;
  };

  bool look_through(std::size_t tiers);
  std::size_t tiers_of(const Ended& process) const;
  bool is_over(std::size_t tiers, std::int64_t wall_ms) const;
  void erase(const Ended& process);
  void erase_marks(int subject, std::int64_t id, std::int64_t from_ms, std::int64_t to_ms);
  bool unused_names(std::string_view table, const IdSet& used, const std::function<bool()>& go_on);
  bool unused_groups(const StoreTable& table, const IdSet& used, const std::function<bool()>& go_on);

  SQLite::Database& database_;
  const RetentionCuts* cuts_ = nullptr;
  std::array<Cursor, kRollupTiers.size() + 1> cursors_{};
  std::size_t look_table_ = 0;  // where the look for what is unused has come to
  std::int64_t look_id_ = 0;
  bool more_unused_ = true;
  Statement ended_;
  Statement erase_process_;
  Statement next_mark_day_;
  Statement erase_mark_;
  Statement first_event_;
  Statement erase_event_;
  Statement first_stretch_;
  Statement erase_stretch_;
  Statement erase_runs_;
  Statement erase_boots_;
};

}  // namespace memoir
