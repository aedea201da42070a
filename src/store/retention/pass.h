#pragma once

// Deletes what has become too old, or what the cap on the file's size has no room for, a small piece at a time; and
// gives pages back that stay free. Each piece is one write transaction of about piece_us. At any moment, and after
// being killed at any moment, what is still listed can be read: a tick goes before its rows, a block is out of bounds
// (see the table `retention`) before its rows go. Only rows that the rollups and the marks hold are deleted.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "store/retention/cuts.h"
#include "store/retention/garbage_collector.h"
#include "store/rows/batch_delete.h"
#include "store/sqlite/pages.h"
#include "store/types.h"

namespace memoir {

class RetentionPass {
 public:
  static constexpr std::int64_t kPieceUs = 10'000;

  explicit RetentionPass(SQLite::Database& database, std::int64_t piece_us = kPieceUs);

  void set_limits(const Retention& limits);

  // The next piece. Not while a step of the rollups is half written.
  Maintenance step();

  // The cap leaves no room for what is not rolled up yet: that must be, and a keyframe begun.
  bool needs_room() const { return needs_room_; }

 private:
  using Stage = bool (RetentionPass::*)();
  // The rows of a table that go by the blocks of a tier.
  struct Blocks {
    Blocks(SQLite::Database& database, const StoreTable& table) : tier(table.tier), rows(database, table.name) {}
    Tier tier;
    BatchDelete rows;
  };

  static const std::array<Stage, 8> kStages;

  bool plan();
  bool make_room(const Pages& pages);
  void begin_stages();
  bool is_over_cap(const Pages& pages) const;
  bool has_idle_pages(const Pages& pages) const;

  // Each a piece of about a millisecond, in an open transaction; false when there is no more to do.
  bool store_cuts();
  bool delete_ticks();
  bool delete_samples();
  bool delete_blocks();
  bool forget_processes() { return forget_.some_processes(); }
  bool forget_events() { return forget_.some_events(); }
  bool forget_runs() { return forget_.some_runs(); }
  bool give_back();

  std::int64_t today() const;  // of recording
  bool is_daily_due();
  void note_size();

  SQLite::Database& database_;
  const std::int64_t piece_us_;
  Retention limits_;
  std::optional<RetentionCuts> cuts_;
  std::int64_t planned_for_ = -1;  // rollup_mark.tick_id
  std::size_t stage_ = kStages.size();
  bool looked_ = false;  // in this pass, for what no process is of
  bool needs_room_ = false;
  std::int64_t settled_bytes_ = 0;  // in use but for what came since planned_for_
  bool giving_back_ = false;
  PageCounter pages_;
  BatchDelete ticks_;
  std::deque<BatchDelete> samples_;
  std::deque<Blocks> blocks_;
  GarbageCollector forget_;
  Statement noted_;
  Statement mark_;
};

// How long the -wal may get under the cap, which it is a part of.
std::int64_t most_wal_bytes(const Retention& limits);

// Puts the limits in force into the database, for readers.
void store_retention(SQLite::Database& database, const Retention& limits);

}  // namespace memoir
