#pragma once

// Deletes expired rows, or rows beyond the size cap, in small pieces, and returns pages that stay free to the file
// system. Each piece is one write transaction of about piece_us. Everything that is still listed can be read at any
// moment, even after a kill: a tick is deleted before its rows, and a block is beyond the cutoff (see the table
// `retention`) before its rows are deleted. Only rows that are in the rollups and the marks are deleted.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "store/retention/cutoffs.h"
#include "store/retention/garbage_collector.h"
#include "store/retention/user_excess.h"
#include "store/rows/batch_delete.h"
#include "store/sqlite/pages.h"
#include "store/types.h"

namespace memoir {

class RetentionPass {
 public:
  static constexpr std::int64_t kPieceUs = 10'000;

  explicit RetentionPass(SQLite::Database& database, std::int64_t piece_us = kPieceUs);

  void set_limits(const Retention& limits);

  // Runs the next piece. Does nothing while a rollup step is half written.
  Maintenance step();

  // Returns whether the cap leaves no space for raw rows, so that they must be rolled up and a keyframe is needed.
  bool needs_room() const { return needs_room_; }

 private:
  using Stage = bool (RetentionPass::*)();
  // Deletes the rows of a table that expire with the blocks of a tier.
  struct Blocks {
    Blocks(SQLite::Database& database, const StoreTable& table) : tier(table.tier), rows(database, table.name) {}
    Tier tier;
    BatchDelete rows;
  };

  static const std::array<Stage, 9> kStages;

  bool plan();
  bool make_room(const Pages& pages);
  void begin_stages();
  bool is_over_cap(const Pages& pages) const;
  bool has_idle_pages(const Pages& pages) const;

  // Each runs for about a millisecond in the open transaction. Returns false when there is no more to do.
  bool store_cuts();
  bool delete_ticks();
  bool delete_samples();
  bool delete_blocks();
  bool delete_excess() { return excess_.some(); }
  bool forget_processes() { return forget_.some_processes(); }
  bool forget_events() { return forget_.some_events(); }
  bool forget_runs() { return forget_.some_runs(); }
  bool give_back();

  std::int64_t today() const;  // day of recording
  bool is_daily_due();
  void note_size();

  SQLite::Database& database_;
  const std::int64_t piece_us_;
  Retention limits_;
  std::optional<RetentionCutoffs> cutoffs_;
  std::int64_t planned_for_ = -1;  // rollup_progress.tick_id of the current plan; -1: plan again
  std::size_t stage_ = kStages.size();
  bool names_scanned_ = false;  // whether unused names were searched for in this pass
  bool needs_room_ = false;
  std::int64_t settled_bytes_ = 0;  // bytes in use, without the growth since the plan was made
  bool giving_back_ = false;
  PageCounter pages_;
  BatchDelete ticks_;
  std::deque<BatchDelete> samples_;
  std::deque<Blocks> blocks_;
  UserExcess excess_;
  GarbageCollector forget_;
  Statement noted_;
  Statement mark_;
};

// Returns the maximum length of the -wal. The cap includes the -wal.
std::int64_t max_wal_bytes(const Retention& limits);

// Stores the limits in force in the database, for readers.
void store_retention(SQLite::Database& database, const Retention& limits);

}  // namespace memoir
