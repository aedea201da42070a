#pragma once

// Where each tier begins: what lies before is to go. Found from the ages that are to be kept, and moved on where the
// file has to stay under its cap. Kept in the table `retention`, so that a recorder that was killed goes on where it
// was, and a reader does not read what is half gone.

#include <array>
#include <cstdint>

#include "store/retention/recorded_past.h"
#include "store/tiers.h"
#include "store/types.h"

namespace SQLite {
class Database;
}

namespace memoir {

struct TierCut {
  std::int64_t recorded_ms = 0;  // what was recorded before goes; up to 0: nothing does
  std::int64_t block_ms = 1;
  BlockSet kept;  // blocks of what stays

  // Whether nothing that stays can lie at a wall time.
  bool gone(std::int64_t wall_ms) const;
  // What lies between the blocks that stay.
  std::vector<BlockSet::Blocks> gone() const;
};

class RetentionCuts {
 public:
  RetentionCuts(SQLite::Database& database, const Retention& limits);

  // Ticks before this one go, and all of their rows. It is a keyframe. 0: none goes.
  std::int64_t first_tick() const { return first_tick_; }
  const std::array<TierCut, kRollupTiers.size()>& tiers() const { return tiers_; }
  const TierCut& of(Tier tier) const { return tiers_.at(index_of(tier)); }
  const RecordedPast& past() const { return past_; }

  // Moves on to the next keyframe, or past the oldest block of the finest tier that has more than one. False: nothing
  // is left that may go.
  bool tighten_ticks();
  bool tighten_tiers();

  // In an open transaction.
  void store() const;

 private:
  std::int64_t last_free_tick() const;
  void cut_ticks(std::int64_t age_ms);
  void cut_tier(const TierShape& shape, std::int64_t recorded_ms);
  bool tighten_tier(const TierShape& shape);

  SQLite::Database& database_;
  RecordedPast past_;
  std::int64_t first_tick_ = 0;
  std::array<TierCut, kRollupTiers.size()> tiers_;
};

}  // namespace memoir
