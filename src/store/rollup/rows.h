#pragma once

// The tables of one rollup tier: buckets are written into them and combined with what is there; and read back.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rollup/timeline.h"
#include "store/sqlite/statement.h"
#include "store/tiers.h"
#include "store/types.h"

namespace memoir {

// A row: `buckets` of its tier from `slot` of its block on.
template <std::size_t N>
struct RollupRow {
  std::int64_t block = 0;
  std::int64_t subject = 0;
  std::int64_t subject_id = 0;
  std::int64_t slot = 0;
  std::int64_t buckets = 1;
  Bucket<N> bucket;

  std::int64_t start_ms(const TierShape& shape) const { return (block * shape.slots + slot) * shape.width_ms; }
};

// What a bucket after the first of a row holds, or several as one.
template <std::size_t N>
Bucket<N> held_bucket(const Bucket<N>& bucket, std::int64_t start_ms, std::int64_t width_ms);

// N is 1 for the machine's metrics (subject 0), kRollupMetrics for the rest.
template <std::size_t N>
class RollupTable {
 public:
  RollupTable(SQLite::Database& database, Tier tier);

  // Adds what was seen in buckets of this tier from start_ms on: a row of its own, or more of the one that is there.
  void add(std::int64_t subject, std::int64_t subject_id, std::int64_t start_ms, std::int64_t buckets,
           const Bucket<N>& bucket);

 private:
  std::optional<RollupRow<N>> last_before(const RollupRow<N>& row, std::int64_t slot);
  void add_row(const RollupRow<N>& row);
  void add_into(const RollupRow<N>& there, const RollupRow<N>& row);
  void put(const RollupRow<N>& row);

  const TierShape& shape_;
  std::vector<std::size_t> values_;
  Statement find_;
  Statement put_;
};

// The rows of a block: of all subjects of a kind, or of one. Only the values of the metrics given are sure to be read,
// or all if none is.
template <std::size_t N>
class RollupBlocks {
 public:
  RollupBlocks(SQLite::Database& database, Tier tier, bool one_subject, const std::vector<Metric>& metrics);

  template <typename Visit>
  void read(std::int64_t block, std::int64_t subject, std::int64_t subject_id, Visit&& visit) {
    bind(block, subject, subject_id);
    while (statement_.step()) visit(row());
  }

 private:
  void bind(std::int64_t block, std::int64_t subject, std::int64_t subject_id);
  RollupRow<N> row() const;

  const TierShape& shape_;
  bool one_subject_;
  std::vector<std::size_t> values_;
  Statement statement_;
  std::int64_t block_ = 0;  // asked for
  std::int64_t subject_ = 0;
};

// Numbers of the first and the last block that a tier has rows of; absent if it has none.
struct BlockSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
std::optional<BlockSpan> blocks_of(SQLite::Database& database, Tier tier);

}  // namespace memoir
