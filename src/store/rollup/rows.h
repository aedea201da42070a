#pragma once

// The tables of one rollup tier: writes buckets, combining them with existing rows, and reads them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rollup/timeline.h"
#include "store/sqlite/statement.h"
#include "store/tiers.h"
#include "store/types.h"

namespace memoir {

// Returns a bucket in which the last values of `bucket` hold for the full width: one of the buckets of a row after the
// first, or several of them combined.
template <std::size_t N>
Bucket<N> held_bucket(const Bucket<N>& bucket, std::int64_t start_ms, std::int64_t width_ms);

// Combines the pieces of a subject in one bucket of a tier into a row of that tier; `first` moves past them. Pieces of
// the finest tier are its rows.
template <std::size_t N>
Piece<N> take_row(const Piece<N>*& first, const Piece<N>* last, std::int64_t width_ms);

// N is 1 for the machine's metrics (subject 0), kRollupMetrics for other subjects.
template <std::size_t N>
class RollupTable {
 public:
  RollupTable(SQLite::Database& database, Tier tier);

  // Adds buckets of this tier, as a new row or to existing rows.
  void add(Piece<N> row);

 private:
  std::optional<Piece<N>> last_before(const Piece<N>& row, std::int64_t start_ms);
  void add_row(const Piece<N>& row);
  void add_into(const Piece<N>& there, const Piece<N>& row);
  void put(const Piece<N>& row);
  void put_swap(const Piece<N>& row) requires(N > 1);
  Statement& bind_key(Statement& statement, const Piece<N>& row) const;
  std::int64_t block_of(const Piece<N>& row) const { return row.start_ms / shape_.width_ms / shape_.slots; }
  // Number of buckets from the start of `there` to that of `row`.
  std::int64_t buckets_between(const Piece<N>& there, const Piece<N>& row) const {
    return (row.start_ms - there.start_ms) / shape_.width_ms;
  }

  const TierShape& shape_;
  std::vector<std::size_t> values_;
  Statement find_;
  Statement put_;
  // only for processes and groups
  std::optional<Statement> put_swap_;
  std::optional<Statement> erase_swap_;
};

// Reads the rows of a block for all subjects of a kind, or for one. Reads at least the given metrics, or all if none is
// given.
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
  Piece<N> row() const;

  const TierShape& shape_;
  bool one_subject_;
  std::vector<std::size_t> values_;
  Statement statement_;
  std::int64_t block_ = 0;  // the requested block
  std::int64_t subject_ = 0;
};

// Numbers of the first and last block with rows in a tier; nullopt without rows.
struct BlockSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
std::optional<BlockSpan> blocks_of(SQLite::Database& database, Tier tier);

}  // namespace memoir
