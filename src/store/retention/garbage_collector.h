#pragma once

// Deletes unreferenced rows: exited processes without remaining rows in ticks and rollups, with their marks; expired
// events, stretches, runs and boots; and names that no row refers to, once a day or if the cap leaves no space. A
// process has rows in a tier only if it ran long enough (TierShape), so a short-lived process is deleted with its raw
// rows; by then its peaks are in the marks of its identity and cgroup. Categories stay, because their marks stay.

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

// A set of row ids, one bit each. Row ids are small. An id that no recorder reaches, as in a damaged file, always
// counts as a member and is not stored.
class IdSet {
 public:
  void add(std::int64_t id);
  bool has(std::int64_t id) const;
  std::int64_t size() const { return size_; }

 private:
  std::vector<bool> ids_;
  std::int64_t size_ = 0;
};

// Used rows of the name tables, in the order of tables_of(TableKind::names). One scan of all processes finds the names
// that they use, in about 0.1 s for a hundred thousand processes. Indexes of `process` by these names would each cost a
// written page at every start of a process. That is a fifth of all writes where many processes run for seconds.
using ReferencedIds = std::vector<IdSet>;
ReferencedIds read_referenced_ids(SQLite::Database& database);

class GarbageCollector {
 public:
  explicit GarbageCollector(SQLite::Database& database);

  // Checks all processes again.
  void restart();
  // Uses these cutoffs from now on; they must outlive this object.
  void begin(const RetentionCutoffs& cuts);

  // Each deletes a few rows in the open transaction. Returns false when there is no more to do.
  bool some_processes();
  bool some_events();
  bool some_runs();

  // Deletes unused names while `go_on` returns true. Returns false if the scan is incomplete; the next call continues
  // it. Read `used` right before this call, because the next tick may use any name again, and outside of the
  // transaction, because reading takes long.
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
  // Progress through the processes with one range of lifetimes, in the order of their exits.
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
