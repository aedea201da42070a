#pragma once

// The cutoff of each tier; older rows are deleted. Set by the configured ages and the size cap. Stored in the table
// `retention`, so deletion resumes after a crash, and readers skip partly deleted rows.

#include <array>
#include <cstdint>

#include "store/retention/recorded_past.h"
#include "store/tiers.h"
#include "store/types.h"

namespace SQLite {
class Database;
}

namespace memoir {

struct TierCutoff {
  std::int64_t recorded_ms = 0;  // rows recorded before it expire; 0 or less: none
  std::int64_t block_ms = 1;
  BlockSet kept;  // blocks that stay

  // Returns whether no remaining row can have this wall time.
  bool expired(std::int64_t wall_ms) const;
  // Returns the blocks that expire: all except those that stay.
  std::vector<BlockSet::Blocks> expired() const;
};

class RetentionCutoffs {
 public:
  RetentionCutoffs(SQLite::Database& database, const Retention& limits);

  // Ticks before this keyframe expire with all of their rows; 0: none expires.
  std::int64_t first_tick() const { return first_tick_; }
  const std::array<TierCutoff, kRollupTiers.size()>& tiers() const { return tiers_; }
  const TierCutoff& of(Tier tier) const { return tiers_.at(index_of(tier)); }
  const RecordedPast& past() const { return past_; }

  // tighten_ticks() moves the cutoff of ticks to the next keyframe. tighten_tiers() moves the cutoff of the finest tier
  // with more than one block past the oldest block of that tier. Both return false if nothing more may expire.
  bool tighten_ticks();
  bool tighten_tiers();

  // Needs an open transaction.
  void store() const;

 private:
  std::int64_t last_free_tick() const;
  void cut_ticks(std::int64_t age_ms);
  void cut_tier(const TierShape& shape, std::int64_t recorded_ms);
  bool tighten_tier(const TierShape& shape);

  SQLite::Database& database_;
  RecordedPast past_;
  std::int64_t first_tick_ = 0;
  std::array<TierCutoff, kRollupTiers.size()> tiers_;
};

}  // namespace memoir
