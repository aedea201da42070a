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

// What a bucket after the first of a row holds, or several as one.
template <std::size_t N>
Bucket<N> held_bucket(const Bucket<N>& bucket, std::int64_t start_ms, std::int64_t width_ms);

// The pieces of a subject that lie in one bucket of a tier as a row of that tier; `first` moves past them. Those of the
// finest tier are its rows.
template <std::size_t N>
Piece<N> take_row(const Piece<N>*& first, const Piece<N>* last, std::int64_t width_ms);

// N is 1 for the machine's metrics (subject 0), kRollupMetrics for the rest.
template <std::size_t N>
class RollupTable {
 public:
  RollupTable(SQLite::Database& database, Tier tier);

  // Adds what was seen in buckets of this tier: a row of its own, or more of the one that is there.
  void add(Piece<N> row);

 private:
  std::optional<Piece<N>> last_before(const Piece<N>& row, std::int64_t start_ms);
  void add_row(const Piece<N>& row);
  void add_into(const Piece<N>& there, const Piece<N>& row);
  void put(const Piece<N>& row);
  void put_swap(const Piece<N>& row) requires(N > 1);
  Statement& bind_key(Statement& statement, const Piece<N>& row) const;
  std::int64_t block_of(const Piece<N>& row) const { return row.start_ms / shape_.width_ms / shape_.slots; }
  // From the begin of one to that of the other.
  std::int64_t buckets_between(const Piece<N>& there, const Piece<N>& row) const {
    return (row.start_ms - there.start_ms) / shape_.width_ms;
  }

  const TierShape& shape_;
  std::vector<std::size_t> values_;
  Statement find_;
  Statement put_;
  // Of processes and groups.
  std::optional<Statement> put_swap_;
  std::optional<Statement> erase_swap_;
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
  Piece<N> row() const;

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
