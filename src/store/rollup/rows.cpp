#include "store/rollup/rows.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <set>

#include "store/rows/columns.h"

namespace memoir {
namespace {

constexpr auto kRolledPss = rolled_index(Metric::pss);
// Metrics from this index on are in a separate table.
constexpr std::size_t kFirstApart = static_cast<std::size_t>(
    std::ranges::count_if(kRolledMetrics, [](Metric metric) { return info_of(metric).rollup != RollupForm::apart; }));

constexpr bool is_like_first(std::size_t value) {
  return info_of(kRolledMetrics[value]).rollup == RollupForm::like_first;
}

template <std::size_t N>
std::string key_columns(const TierShape& shape) {
  return N == 1 ? fmt::format("{}, metric, slot", shape.block)
                : fmt::format("{}, subject, subject_id, slot", shape.block);
}

template <std::size_t N>
std::vector<std::size_t> all_values() {
  std::vector<std::size_t> all(N);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Returns the indexes of the values to read, always with the first value, to which others refer.
template <std::size_t N>
std::vector<std::size_t> values_of(const std::vector<Metric>& metrics) {
  if (metrics.empty()) return all_values<N>();
  std::set<std::size_t> values{0};
  for (const Metric metric : metrics) values.insert(rolled_index(metric));
  return {values.begin(), values.end()};
}

bool has_pss(const std::vector<std::size_t>& values) {
  return std::find(values.begin(), values.end(), kRolledPss) != values.end();
}

// Returns "anon_kib", "anon_low", "anon_mean", "anon_high".
std::array<std::string, 4> four_columns(std::size_t value) {
  const std::string_view name = to_string(kRolledMetrics[value]);
  return {fmt::format("{}_kib", name), fmt::format("{}_low", name), fmt::format("{}_mean", name),
          fmt::format("{}_high", name)};
}

// Returns the expressions that read a value. A value in the separate table may have no row.
std::string read_columns(std::size_t value) {
  auto columns = four_columns(value);
  if (value >= kFirstApart) {
    const std::string_view known_by = to_string(*info_of(kRolledMetrics[value]).known_by);
    for (std::string& column : columns)
      column = fmt::format("IIF(w.buckets IS NULL, {}_kib * 0, {})", known_by, column);
  }
  return fmt::format("{}", fmt::join(columns, ", "));
}

// Returns the columns after `buckets`.
template <std::size_t N>
std::string value_columns(const TierShape& shape, const std::vector<std::size_t>& values) {
  if (N == 1) return "covered_ms, value, low, mean, high, low_after_ms, high_after_ms";
  std::string columns = "covered_ms, processes";
  for (const std::size_t i : values) columns += ", " + read_columns(i);
  if (!has_pss(values)) return columns;
  return columns + (shape.keeps_peak_times ? ", pss_inexact_bp, pss_high_after_ms" : ", pss_inexact_bp");
}

template <std::size_t N>
std::string table(const TierShape& shape) {
  return fmt::format("{}_{}", N == 1 ? "machine" : "rollup", shape.name);
}

// Returns the query of rows. It omits the block and the subject's kind, which the caller knows.
template <std::size_t N>
std::string select_sql(const TierShape& shape, const std::vector<std::size_t>& values) {
  const std::string swap = values.back() < kFirstApart
                               ? ""
                               : fmt::format(" LEFT JOIN swap_{} AS w USING ({})", shape.name, key_columns<N>(shape));
  return fmt::format("SELECT {}, slot, r.buckets, {} FROM {} AS r{}", N == 1 ? "metric" : "subject_id",
                     value_columns<N>(shape, values), table<N>(shape), swap);
}

template <std::size_t N>
std::string put_sql(const TierShape& shape) {
  std::vector<std::size_t> own = all_values<N>();
  if (N > 1) own.resize(kFirstApart);
  const std::string columns = value_columns<N>(shape, own);
  const auto commas = static_cast<std::size_t>(std::ranges::count(columns, ','));
  return fmt::format("INSERT OR REPLACE INTO {} ({}, buckets, {}) VALUES ({})", table<N>(shape), key_columns<N>(shape),
                     columns, placeholders((N == 1 ? 5 : 6) + commas));
}

// Returns "block = ? AND subject = ? AND subject_id = ?".
template <std::size_t N>
std::string subject_condition(const TierShape& shape) {
  return std::string(shape.block) + (N == 1 ? " = ? AND metric = ?" : " = ? AND subject = ? AND subject_id = ?");
}

// Differences of the minimum, mean and maximum from the last value.
struct Differences {
  std::int64_t low = 0;
  std::int64_t mean = 0;
  std::int64_t high = 0;

  bool operator==(const Differences&) const = default;
};

Differences differences(const Aggregate& value) {
  if (!value.known) return {};
  return {value.last - value.min, value.mean() - value.last, value.max - value.last};
}

void add_value(Statement& statement, const Aggregate& value, bool alike) {
  statement.add(value.known ? std::optional(value.last) : std::nullopt);
  const Differences own = differences(value);
  const bool left_out = alike || !value.known;
  for (const std::int64_t difference : {own.low, own.mean, own.high})
    statement.add(left_out ? std::nullopt : std::optional(difference));
}

template <std::size_t N>
Piece<N> read_row(const Statement& statement, const TierShape& shape, const std::vector<std::size_t>& values,
                  std::int64_t block, std::int64_t subject) {
  int column = 0;
  Piece<N> row;
  row.subject = subject;
  row.subject_id = statement.integer(column++);
  const std::int64_t slot = statement.within(column++, 0, shape.slots - 1);
  row.start_ms = (block * shape.slots + slot) * shape.width_ms;
  row.buckets = statement.within(column++, 1, shape.slots - slot);
  row.bucket.covered_ms = statement.maybe(column++).value_or(shape.width_ms);
  row.bucket.processes = N > 1 ? statement.integer(column++) : 1;
  Differences first;
  for (const std::size_t i : values) {
    const auto last = statement.maybe(column++);
    const auto low = statement.maybe(column++);
    const auto mean = statement.maybe(column++);
    const auto high = statement.maybe(column++);
    if (!last) continue;
    const Differences own{low.value_or(first.low), mean.value_or(first.mean), high.value_or(first.high)};
    if (i == 0) first = own;
    Aggregate& value = row.bucket.values[i];
    value.known = true;
    value.min = *last - own.low;
    value.max = *last + own.high;
    value.last = *last;
    value.hold({*last + own.mean}, row.bucket.covered_ms);
  }
  const auto time = [&] {
    const auto after_ms = statement.maybe(column++);
    return after_ms ? row.start_ms + *after_ms : 0;
  };
  if constexpr (N == 1) {
    row.bucket.values[0].min_at_ms = time();
    row.bucket.values[0].max_at_ms = time();
  } else if (has_pss(values)) {
    Aggregate& pss = row.bucket.values[kRolledPss];
    const auto inexact_bp = statement.maybe(column++);
    if (pss.known_ms > 0) pss.set_inexact_bp(inexact_bp);
    if (shape.keeps_peak_times) pss.max_at_ms = time();
  }
  return row;
}

}  // namespace

template <std::size_t N>
Bucket<N> held_bucket(const Bucket<N>& bucket, std::int64_t start_ms, std::int64_t width_ms) {
  Bucket<N> held;
  held.covered_ms = width_ms;
  held.processes = bucket.processes;
  for (std::size_t i = 0; i < N; ++i) {
    const Aggregate& before = bucket.values[i];
    if (!before.known) continue;
    Aggregate& value = held.values[i];
    value.see(before.last, start_ms);
    value.hold({before.last}, width_ms);
    value.set_inexact_bp(before.inexact_bp());
    if (before.min_at_ms == 0) value.min_at_ms = 0;
    if (before.max_at_ms == 0) value.max_at_ms = 0;
  }
  return held;
}

template <std::size_t N>
Piece<N> take_row(const Piece<N>*& first, const Piece<N>* last, std::int64_t width_ms) {
  if (width_ms == kPieceMs) return *first++;
  const auto start_of = [width_ms](const Piece<N>& piece) { return piece.start_ms - piece.start_ms % width_ms; };
  Piece<N> row{first->subject, first->subject_id, start_of(*first), 1, first->lived_ms, {}};
  const auto in_row = [&](const Piece<N>& piece) {
    return piece.subject == row.subject && piece.subject_id == row.subject_id && start_of(piece) == row.start_ms;
  };
  for (; first != last && in_row(*first); ++first) {
    row.bucket.append(first->bucket);
    const std::int64_t held_ms = (first->buckets - 1) * kPieceMs;
    if (held_ms > 0) row.bucket.append(held_bucket(first->bucket, first->start_ms + kPieceMs, held_ms));
  }
  return row;
}

template <std::size_t N>
RollupTable<N>::RollupTable(SQLite::Database& database, Tier tier)
    : shape_(shape_of(tier)),
      values_(all_values<N>()),
      find_(database, fmt::format("{} WHERE {} AND slot <= ? ORDER BY slot DESC LIMIT 1",
                                  select_sql<N>(shape_, values_), subject_condition<N>(shape_))),
      put_(database, put_sql<N>(shape_)) {
  if constexpr (N > 1) {
    const std::string name = fmt::format("swap_{}", shape_.name);
    std::string columns = key_columns<N>(shape_) + ", buckets";
    for (std::size_t i = kFirstApart; i < N; ++i) columns += fmt::format(", {}", fmt::join(four_columns(i), ", "));
    put_swap_.emplace(database, fmt::format("INSERT OR REPLACE INTO {} ({}) VALUES ({})", name, columns,
                                            placeholders(5 + 4 * (N - kFirstApart))));
    erase_swap_.emplace(database,
                        fmt::format("DELETE FROM {} WHERE {} AND slot = ?", name, subject_condition<N>(shape_)));
  }
}

template <std::size_t N>
Statement& RollupTable<N>::bind_key(Statement& statement, const Piece<N>& row) const {
  const std::int64_t block = block_of(row);
  statement.bind(block);
  if (N > 1) statement.add(row.subject);
  statement.add(row.subject_id);
  statement.add(row.start_ms / shape_.width_ms - block * shape_.slots);
  return statement;
}

template <std::size_t N>
std::optional<Piece<N>> RollupTable<N>::last_before(const Piece<N>& row, std::int64_t start_ms) {
  const std::int64_t block = block_of(row);
  find_.bind(block);
  if (N > 1) find_.add(row.subject);
  find_.add(row.subject_id);
  find_.add(start_ms / shape_.width_ms - block * shape_.slots);
  if (!find_.step()) return std::nullopt;
  Piece<N> found = read_row<N>(find_, shape_, values_, block, row.subject);
  find_.reset();
  return found;
}

template <std::size_t N>
void RollupTable<N>::put(const Piece<N>& row) {
  bind_key(put_, row);
  put_.add(row.buckets);
  // If the clock was set back, time that it passed twice counts once.
  put_.add(row.bucket.covered_ms >= shape_.width_ms ? std::nullopt : std::optional(row.bucket.covered_ms));
  if (N > 1) put_.add(row.bucket.processes);
  for (std::size_t i = 0; i < std::min(N, kFirstApart); ++i) {
    const bool alike =
        N > 1 && is_like_first(i) && differences(row.bucket.values[i]) == differences(row.bucket.values[0]);
    add_value(put_, row.bucket.values[i], alike);
  }
  const auto add_time = [&](std::int64_t at_ms) {
    put_.add(at_ms == 0 ? std::nullopt : std::optional(at_ms - row.start_ms));
  };
  if constexpr (N == 1) {
    add_time(row.bucket.values[0].min_at_ms);
    add_time(row.bucket.values[0].max_at_ms);
  } else {
    const Aggregate& pss = row.bucket.values[kRolledPss];
    put_.add(pss.inexact_bp());
    if (shape_.keeps_peak_times) add_time(pss.max_at_ms);
  }
  put_.finish();
  if constexpr (N > 1) put_swap(row);
}

template <std::size_t N>
void RollupTable<N>::put_swap(const Piece<N>& row) requires(N > 1) {
  const auto& values = row.bucket.values;
  const auto is_zero = [&](Metric metric) {
    const auto& info = info_of(metric);
    const Aggregate& value = values[rolled_index(metric)];
    return info.rollup != RollupForm::apart || (value.known == values[rolled_index(*info.known_by)].known &&
                                                value.last == 0 && differences(value) == Differences{});
  };
  const bool as_without = std::ranges::all_of(kRolledMetrics, is_zero);
  if (as_without) return;
  Statement& statement = bind_key(*put_swap_, row);
  statement.add(row.buckets);
  for (std::size_t i = kFirstApart; i < N; ++i) add_value(statement, values[i], false);
  statement.finish();
}

template <std::size_t N>
void RollupTable<N>::add(Piece<N> row) {
  const std::int64_t width_ms = shape_.width_ms;
  const auto there = last_before(row, row.end_ms(width_ms) - width_ms);
  if (row.buckets == 1 || !there || there->buckets <= buckets_between(*there, row)) return add_row(row);
  // After the clock was set back, a row exists already: the buckets are added one by one.
  const Bucket<N> first = row.bucket;
  const std::int64_t end_ms = row.end_ms(width_ms);
  for (row.buckets = 1; row.start_ms < end_ms; row.bucket = held_bucket(first, row.start_ms, width_ms)) {
    add_row(row);
    row.start_ms += width_ms;
  }
}

template <std::size_t N>
void RollupTable<N>::add_row(const Piece<N>& row) {
  auto there = last_before(row, row.start_ms);
  const std::int64_t between = there ? buckets_between(*there, row) : 0;
  if (!there || there->buckets < between) return put(row);
  if (there->buckets > between) return add_into(*there, row);
  const bool goes_on = row.bucket.covered_ms == shape_.width_ms && there->bucket.goes_on_as(row.bucket);
  if (!goes_on) return put(row);
  there->buckets += row.buckets;
  put(*there);
}

// Adds `row`, which is one bucket, to the existing row that contains it. The existing row is split into up to three
// rows.
template <std::size_t N>
void RollupTable<N>::add_into(const Piece<N>& there, const Piece<N>& row) {
  const std::int64_t before = buckets_between(there, row);
  const std::int64_t after = there.buckets - before - 1;
  if constexpr (N > 1) bind_key(*erase_swap_, there).finish();
  Piece<N> part = there;
  if (before > 0) {
    part.buckets = before;
    put(part);
    part.bucket = held_bucket(there.bucket, row.start_ms, shape_.width_ms);
  }
  part.start_ms = row.start_ms;
  part.buckets = 1;
  part.bucket.append(row.bucket);
  put(part);
  if (after == 0) return;
  part.start_ms += shape_.width_ms;
  part.buckets = after;
  part.bucket = held_bucket(there.bucket, part.start_ms, shape_.width_ms);
  put(part);
}

template <std::size_t N>
RollupBlocks<N>::RollupBlocks(SQLite::Database& database, Tier tier, bool one_subject,
                              const std::vector<Metric>& metrics)
    : shape_(shape_of(tier)),
      one_subject_(one_subject),
      values_(values_of<N>(metrics)),
      statement_(database, fmt::format("{} WHERE {} ORDER BY {}", select_sql<N>(shape_, values_),
                                       N == 1 || one_subject ? subject_condition<N>(shape_)
                                                             : fmt::format("{} = ? AND subject = ?", shape_.block),
                                       key_columns<N>(shape_))) {}

template <std::size_t N>
void RollupBlocks<N>::bind(std::int64_t block, std::int64_t subject, std::int64_t subject_id) {
  block_ = block;
  subject_ = subject;
  statement_.bind(block);
  if (N > 1) statement_.add(subject);
  if (N == 1 || one_subject_) statement_.add(subject_id);
}

template <std::size_t N>
Piece<N> RollupBlocks<N>::row() const {
  return read_row<N>(statement_, shape_, values_, block_, subject_);
}

std::optional<BlockSpan> blocks_of(SQLite::Database& database, Tier tier) {
  const TierShape& shape = shape_of(tier);
  Statement ends(database, fmt::format("SELECT (SELECT MIN({0}) FROM machine_{1} WHERE {0} >= "
                                       "COALESCE((SELECT {2}_from_ms / {3} FROM retention), 0)), "
                                       "(SELECT MAX({0}) FROM machine_{1})",
                                       shape.block, shape.name, shape.retained, shape.block_ms()));
  ends.step();
  if (!ends.maybe(0) || !ends.maybe(1)) return std::nullopt;
  // A time in the year nine million. Blocks beyond it are from a damaged file.
  constexpr std::int64_t max_ms = std::int64_t{1} << 58;
  const std::int64_t most = max_ms / shape.block_ms();
  return BlockSpan{ends.within(0, -most, most), ends.within(1, -most, most)};
}

template Bucket<1> held_bucket(const Bucket<1>&, std::int64_t, std::int64_t);
template Bucket<kRollupMetrics> held_bucket(const Bucket<kRollupMetrics>&, std::int64_t, std::int64_t);
template Piece<1> take_row(const Piece<1>*&, const Piece<1>*, std::int64_t);
template Piece<kRollupMetrics> take_row(const Piece<kRollupMetrics>*&, const Piece<kRollupMetrics>*, std::int64_t);
template class RollupTable<1>;
template class RollupTable<kRollupMetrics>;
template class RollupBlocks<1>;
template class RollupBlocks<kRollupMetrics>;

}  // namespace memoir
