#pragma once

// Deletes unreferenced rows: processes that exited before all of their remaining rows, with their marks; events,
// stretches, runs and boots; and names without a process, once a day or if the cap leaves no space. A process has rows
// in a tier only if it ran long enough (TierShape), so a short-lived process is deleted with its raw rows; by then its
// peaks are in the marks of its identity and cgroup. Categories stay, because their peaks do.

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "store/retention/cutoffs.h"
#include "store/sqlite/statement.h"
#include "store/tables.h"
#include "store/tiers.h"

namespace memoir {

// A set of row ids, one bit each. Row ids are small. A larger one than any recorder reaches, as in a damaged file,
// counts as a member without being stored.
class IdSet {
 public:
  void add(std::int64_t id);
  bool has(std::int64_t id) const;
  std::int64_t size() const { return size_; }

 private:
  std::vector<bool> ids_;
  std::int64_t size_ = 0;
};

// Used rows of the name tables, in the order of tables_of(TableKind::names). Those of processes are found by one scan
// of all processes, some 0.1 s for a hundred thousand. An index of `process` by each of them would be written at each
// start, one page each: a fifth of all that a recorder writes where many processes live for seconds.
using ReferencedIds = std::vector<IdSet>;
ReferencedIds read_referenced_ids(SQLite::Database& database);

class GarbageCollector {
 public:
  explicit GarbageCollector(SQLite::Database& database);

  // Checks all processes again.
  void restart();
  // Uses these cutoffs from now on; they must outlive it.
  void begin(const RetentionCutoffs& cuts);

  // Each is a small piece, in an open transaction; returns false when there is no more to do.
  bool some_processes();
  bool some_events();
  bool some_runs();

  // Deletes names without a process while `go_on` returns true. Returns false if there are more, with which the next
  // call continues. `used` must be current, since the next tick may name any of them again: read right before this
  // call, and outside of its transaction, because reading takes long.
  bool unused(const ReferencedIds& used, const std::function<bool()>& go_on);
  // Returns whether anything may have become unused since the start of the last scan, or the scan is incomplete.
  bool may_find_unused() const { return more_unused_ || scan_table_ > 0 || scan_id_ > 0; }

 private:
  struct Exited {
    std::int64_t id = 0;
    std::int64_t first_tick_id = 0;
    std::int64_t exited_tick_id = 0;
    std::int64_t start_ms = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
    std::int64_t exited_ms = 0;
  };
  // Progress in the rows of `process` with one range of lifetimes, by exit.
  struct Cursor {
    std::int64_t exited_tick_id = 0;
    std::int64_t id = 0;
    bool done = false;
  };

  bool scan_tier(std::size_t tiers);
  std::size_t tiers_of(const Exited& process) const;
  bool is_over(std::size_t tiers, std::int64_t wall_ms) const;
  void erase(const Exited& process);
  void erase_marks(int subject, std::int64_t id, std::int64_t from_ms, std::int64_t to_ms);
  bool unused_names(std::string_view table, const IdSet& used, const std::function<bool()>& go_on);
  bool unused_groups(const StoreTable& table, const IdSet& used, const std::function<bool()>& go_on);

  SQLite::Database& database_;
  const RetentionCutoffs* cutoffs_ = nullptr;
  std::array<Cursor, kRollupTiers.size() + 1> cursors_{};
  std::size_t scan_table_ = 0;  // progress of the scan for unused names
  std::int64_t scan_id_ = 0;
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
  Statement erase_odd_lines_;
  Statement erase_boots_;
};

}  // namespace memoir
