#include "store/rollup/reader.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "store/rollup/rollup.h"

namespace memoir {
namespace {

Interval interval_of(const Aggregate& value, std::int64_t from_ms, std::int64_t until_ms, std::int64_t covered_ms) {
  Interval interval{from_ms, until_ms, covered_ms, {}, {}, {}, {}};
  if (!value.known) return interval;
  const auto inexact_bp = value.inexact_bp();
  const auto time = [](std::int64_t at_ms) { return at_ms == 0 ? std::nullopt : std::optional(at_ms); };
  interval.min = value.min;
  interval.mean = value.mean();
  interval.max = value.max;
  interval.last = value.last;
  interval.min_at_ms = time(value.min_at_ms);
  interval.max_at_ms = time(value.max_at_ms);
  if (inexact_bp) interval.exact = 1 - static_cast<double>(*inexact_bp) / kAllBp;
  return interval;
}

// A time span of one subject, aligned to the buckets of a tier.
struct Span {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;

  bool touches(Range range) const { return until_ms > range.from_ms && from_ms <= range.to_ms; }
};

// Value of the watermark if everything is rolled up.
constexpr std::int64_t kNoWatermark = std::numeric_limits<std::int64_t>::max();

template <std::size_t N>
using Visitor = std::function<void(std::int64_t subject_id, const Span& span, const Bucket<N>& bucket)>;

// Visits the first bucket of a row, and its other buckets as one.
template <std::size_t N>
void visit_row(const Piece<N>& row, const Span& first, std::int64_t width_ms, const Visitor<N>& visit) {
  const std::int64_t middle = row.start_ms + width_ms;
  const std::int64_t end = row.end_ms(width_ms);
  visit(row.subject_id, first, row.bucket);
  if (row.buckets > 1) visit(row.subject_id, {middle, end}, held_bucket(row.bucket, middle, end - middle));
}

// Visits a written row up to the watermark. If the clock was set back, rows written before may have times after the
// watermark; they are visited unchanged.
template <std::size_t N>
void visit_written(const Piece<N>& row, std::int64_t width_ms, std::int64_t watermark_ms, const Visitor<N>& visit) {
  const std::int64_t middle = row.start_ms + width_ms;
  const bool at_watermark = row.start_ms < watermark_ms && watermark_ms < middle;
  visit_row(row, {row.start_ms, at_watermark ? watermark_ms : middle}, width_ms, visit);
}

// Visits rows that are not written yet, from the watermark on: pieces of 5 minutes, combined into rows of a tier.
template <std::size_t N>
void visit_pieces(const std::vector<Piece<N>>& pieces, std::int64_t width_ms, std::int64_t watermark_ms,
                  const Visitor<N>& visit) {
  const Piece<N>* const last = pieces.data() + pieces.size();
  for (const Piece<N>* first = pieces.data(); first != last;) {
    const Piece<N> row = take_row(first, last, width_ms);
    const std::int64_t middle = row.start_ms + width_ms;
    const bool at_watermark = row.start_ms < watermark_ms && watermark_ms < middle;
    visit_row(row, {at_watermark ? watermark_ms : row.start_ms, middle}, width_ms, visit);
  }
}

std::optional<std::int64_t> wall_of(SQLite::Database& database, std::int64_t tick_id) {
  return one(database, "SELECT wall_ms FROM tick WHERE id >= ? ORDER BY id LIMIT 1", tick_id);
}

// Returns the latest time of a tick; the largest number without one.
std::int64_t last_tick_ms(SQLite::Database& database) {
  return one(database, "SELECT MAX(wall_ms) FROM tick").value_or(std::numeric_limits<std::int64_t>::max());
}

template <std::size_t N>
void visit_blocks(RollupBlocks<N>& blocks, const BlockSpan& span, const TierShape& shape, Range range,
                  std::int64_t subject, std::int64_t subject_id,
                  const std::function<std::int64_t(std::int64_t)>& watermark, const Visitor<N>& visit) {
  const std::int64_t first = std::max(span.first, range.from_ms / shape.block_ms());
  const std::int64_t last = std::min(span.last, range.to_ms / shape.block_ms());
  for (std::int64_t block = first; block <= last; ++block) {
    blocks.read(block, subject, subject_id,
                [&](const Piece<N>& row) { visit_written(row, shape.width_ms, watermark(row.subject_id), visit); });
  }
}

void visit_subjects(const PendingRollup& tail, SubjectKind kind, std::optional<std::int64_t> subject_id,
                    const std::function<bool(std::int64_t)>& wanted, std::int64_t width_ms,
                    const Visitor<kRollupMetrics>& visit) {
  const auto subject = static_cast<std::int64_t>(kind);
  const MemoryPieces& all = tail.segment.memory;
  for (auto of = all.lower_bound({subject, subject_id.value_or(INT64_MIN)}); of != all.end(); ++of) {
    const auto& [key, pieces] = *of;
    if (key.first != subject || (subject_id && key.second != *subject_id)) return;
    if (wanted(key.second)) visit_pieces(pieces, width_ms, tail.at_ms, visit);
  }
}

// Visits a bucket. Unless the query wants whole buckets, clips the bucket to the range, and omits it if nothing is
// left.
void hand_out(const HistoryQuery& question, std::int64_t last_ms, const VisitInterval& visit, SubjectInterval of) {
  if (!question.whole) {
    end_with(last_ms, of.interval);
    of.interval = clipped(of.interval, question.range.from_ms, question.range.to_ms);
    if (of.interval.from_ms >= of.interval.until_ms) return;
  }
  visit(of);
}

void visit_memory_rollups(SQLite::Database& database, PendingRollups& tails, const HistoryQuery& question,
                          const VisitInterval& visit) {
  const Range range = question.range;
  const std::int64_t last_ms = last_tick_ms(database);
  const std::optional<std::int64_t> subject_id = question.subject_id;
  const TierShape& shape = shape_of(question.tier);
  const Visitor<kRollupMetrics> visitor = [&](std::int64_t id, const Span& span, const auto& bucket) {
    if (!span.touches(range)) return;
    for (const Metric metric : question.metrics) {
      SubjectInterval of{
          id, metric, bucket.processes,
          interval_of(bucket.values[rolled_index(metric)], span.from_ms, span.until_ms, bucket.covered_ms)};
      if (!shape.keeps_peak_times) of.interval.max_at_ms.reset();
      hand_out(question, last_ms, visit, of);
    }
  };
  const RollupProgress mark = rollup_progress(database);
  const auto subject = static_cast<std::int64_t>(question.kind);
  const auto written = [&](std::int64_t id) {
    return mark.half_written() && std::pair(subject, id) < std::pair(mark.next_subject, mark.next_subject_id);
  };
  const std::int64_t watermark_ms = wall_of(database, mark.tick_id).value_or(kNoWatermark);
  const std::int64_t target_ms = wall_of(database, mark.target_tick_id).value_or(kNoWatermark);
  if (const auto span = blocks_of(database, question.tier)) {
    RollupBlocks<kRollupMetrics> blocks(database, question.tier, subject_id.has_value(), question.metrics);
    visit_blocks<kRollupMetrics>(
        blocks, *span, shape, range, subject, subject_id.value_or(0),
        [&](std::int64_t id) { return written(id) ? target_ms : watermark_ms; }, visitor);
  }
  const auto show = [&](const PendingRollup* tail, const std::function<bool(std::int64_t)>& wanted) {
    if (tail != nullptr) visit_subjects(*tail, question.kind, subject_id, wanted, shape.width_ms, visitor);
  };
  if (mark.half_written()) {
    show(tails.from(mark.tick_id, mark.target_tick_id, range, question.kind),
         [&](std::int64_t id) { return !written(id); });
  }
  show(tails.from(mark.target_tick_id, std::nullopt, range, question.kind), [](std::int64_t) { return true; });
}

void visit_machine_rollups(SQLite::Database& database, PendingRollups& tails, const HistoryQuery& question,
                           const VisitInterval& visit) {
  const TierShape& shape = shape_of(question.tier);
  const std::int64_t last_ms = last_tick_ms(database);
  const RollupProgress mark = rollup_progress(database);
  // The machine's metrics of a step are written first, so they reach up to the step's end.
  const std::int64_t watermark_tick = mark.target_tick_id;
  const std::int64_t watermark_ms = wall_of(database, watermark_tick).value_or(kNoWatermark);
  const PendingRollup* const tail = tails.from(watermark_tick, std::nullopt, question.range, SubjectKind::machine);
  const auto span = blocks_of(database, question.tier);
  for (const Metric metric : question.metrics) {
    const Visitor<1> visitor = [&](std::int64_t, const Span& of, const Bucket<1>& bucket) {
      if (!of.touches(question.range)) return;
      hand_out(question, last_ms, visit,
               {0, metric, 0, interval_of(bucket.values[0], of.from_ms, of.until_ms, bucket.covered_ms)});
    };
    if (span) {
      RollupBlocks<1> blocks(database, question.tier, true, {});
      visit_blocks<1>(
          blocks, *span, shape, question.range, 0, info_of(metric).number, [&](std::int64_t) { return watermark_ms; },
          visitor);
    }
    if (tail == nullptr) continue;
    const auto& metrics = kRolledMachineMetrics;
    const auto index = static_cast<std::size_t>(std::ranges::find(metrics, metric) - metrics.begin());
    if (index == metrics.size()) continue;
    std::vector<MachinePiece> pieces = tail->segment.machine[index];
    std::erase_if(pieces, [](const MachinePiece& piece) { return !piece.bucket.values[0].known; });
    visit_pieces(pieces, shape.width_ms, tail->at_ms, visitor);
  }
}

}  // namespace

void visit_rollups(SQLite::Database& database, PendingRollups& tails, const HistoryQuery& question,
                   const VisitInterval& visit) {
  const bool machine = question.kind == SubjectKind::machine;
  (machine ? visit_machine_rollups : visit_memory_rollups)(database, tails, question, visit);
}

std::vector<TierSpan> load_tiers(SQLite::Database& database) {
  Statement ends(database,
                 "SELECT (SELECT wall_ms FROM tick ORDER BY id LIMIT 1), "
                 "COALESCE((SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1), "
                 "(SELECT to_ms FROM stretch ORDER BY id DESC LIMIT 1))");
  ends.step();
  const auto raw_from = ends.maybe(0);
  const auto to = ends.maybe(1);
  std::vector<TierSpan> tiers;
  if (!to) return tiers;
  if (raw_from) tiers.push_back({Tier::raw, *raw_from, *to});
  for (const TierShape& shape : kRollupTiers) {
    const auto span = blocks_of(database, shape.tier);
    if (!span && !raw_from) continue;
    // Unwritten buckets are computed from raw rows, so every tier reaches back at least as far as these rows.
    const std::int64_t from = span ? span->first * shape.block_ms() : *raw_from;
    tiers.push_back({shape.tier, std::min(from, raw_from.value_or(from)), *to});
  }
  return tiers;
}

}  // namespace memoir
