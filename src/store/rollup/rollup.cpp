#include "store/rollup/rollup.h"

#include <algorithm>
#include <limits>

#include "store/replay/tick_cursor.h"
#include "store/rollup/activity.h"
#include "store/tiers.h"

namespace memoir {
namespace {

// Number of pieces in a transaction, which then takes some milliseconds.
constexpr std::size_t kPiecesAtOnce = 250;

// Maximum number of attempts at one step.
constexpr std::int64_t kMaxAttempts = 3;

std::int64_t hour_of(std::int64_t wall_ms) {
  return wall_ms / kHourMs;
}

struct End {
  std::int64_t tick_id = 0;
  std::int64_t wall_ms = 0;
};

End read_end(const Statement& row) {
  return {row.integer(0), row.integer(1)};
}

constexpr const char* kMarkSql =
    "SELECT tick_id, target_tick_id, next_subject, next_subject_id, attempts FROM rollup_progress";

RollupProgress read_rollup_progress(const Statement& row) {
  // The next subject is only compared; it is the maximum if no further rows are to be written.
  using Any = std::numeric_limits<std::int64_t>;
  return {row.integer(0), row.integer(1), row.within(2, Any::min(), Any::max()), row.within(3, Any::min(), Any::max()),
          row.integer(4)};
}

// When rows of many subjects are written, those that start in the last slot of their block are written after all
// others. When rows arrive in key order, SQLite leaves an eighth of each page free, and the later rows fill that
// space.
enum class Turn { first, second };

// Adds the pieces of one subject.
template <std::size_t N>
void add_pieces(RollupTable<N>& table, const std::vector<Piece<N>>& pieces, const TierShape& shape, Turn turn) {
  const Piece<N>* first = pieces.data();
  const Piece<N>* const last = first + pieces.size();
  // If the clock was set back, all pieces are written in recording order.
  const bool in_order = std::ranges::is_sorted(pieces, {}, &Piece<N>::start_ms);
  while (first != last) {
    const Piece<N> row = take_row(first, last, shape.width_ms);
    const bool waits = in_order && row.start_ms / shape.width_ms % shape.slots == shape.slots - 1;
    if (waits == (turn == Turn::second)) table.add(row);
  }
}

}  // namespace

RollupProgress rollup_progress(SQLite::Database& database) {
  return Statement(database, kMarkSql).first(read_rollup_progress).value_or(RollupProgress());
}

Rollup::Rollup(SQLite::Database& database, std::int64_t step_bytes)
    : database_(database),
      step_bytes_(step_bytes),
      mark_(database, kMarkSql),
      first_from_(database, "SELECT id, wall_ms FROM tick WHERE id >= ? ORDER BY id LIMIT 1"),
      last_(database, "SELECT id, wall_ms FROM tick ORDER BY id DESC LIMIT 1"),
      seen_identity_(database, "UPDATE identity SET last_ms = MAX(last_ms, ?2) WHERE id = ?1"),
      seen_cgroup_(database, "UPDATE cgroup SET last_ms = MAX(last_ms, ?2) WHERE id = ?1") {
  for (const TierShape& shape : kRollupTiers) tiers_.emplace_back(database, shape);
}

// Returns the tick at which the next step ends: the first tick in another hour than the first tick that is not rolled
// up. If there is none, returns the last tick in a hurry, otherwise nullopt.
std::optional<std::int64_t> Rollup::target(const RollupProgress& mark) {
  if (mark.half_written()) return mark.target_tick_id;
  const auto first = first_from_.first(read_end, mark.tick_id);
  const auto last = last_.first(read_end);
  if (!first || !last || first->tick_id == last->tick_id) return std::nullopt;
  // Usually the hour is not over, so no search is needed.
  const bool look = hour_of(last->wall_ms) != hour_of(first->wall_ms) || hurry_;
  if (!look) return std::nullopt;
  const auto over = one(database_, "SELECT MIN(id) FROM tick WHERE id > ? AND wall_ms / ? <> ?", first->tick_id,
                        kHourMs, hour_of(first->wall_ms));
  if (over) return over;
  return hurry_ ? std::optional(last->tick_id) : std::nullopt;
}

bool Rollup::due() {
  return segment_.has_value() || target(mark_.first(read_rollup_progress).value_or(RollupProgress())).has_value();
}

void Rollup::prepare() {
  if (segment_) return;
  const RollupProgress mark = mark_.first(read_rollup_progress).value_or(RollupProgress());
  const auto end = target(mark);
  if (!end) return;
  const auto first = first_from_.first(read_end, mark.tick_id);
  // Another program has deleted the ticks of a half-written step, so it is skipped.
  if (!first || first->tick_id >= *end) return set_mark({*end, *end, 0, 0});
  const PassLimits limits = begin_attempt(mark);
  skips_subjects_ = limits.bytes == 0;
  target_ = *end;
  // A half-written step keeps its previous end.
  segment_ = roll_up(database_, first->tick_id, *end, mark.half_written() && !skips_subjects_ ? PassLimits() : limits);
  machine_written_ = mark.half_written();
  const MemoryPieces& memory = segment_->memory;
  next_ = mark.half_written() ? memory.lower_bound({mark.next_subject, mark.next_subject_id}) : memory.begin();
}

// Stores an attempt before it is made, because it may crash this process. A process stores it only once: further
// failures are those of the disk, which are retried without limit.
PassLimits Rollup::begin_attempt(const RollupProgress& mark) {
  if (attempted_ != mark.tick_id) {
    failures_ = mark.attempts;
    attempted_ = mark.tick_id;
    if (failures_ < kMaxAttempts)
      Statement(database_, "UPDATE rollup_progress SET attempts = attempts + 1 WHERE id = 1").run();
  }
  if (failures_ >= kMaxAttempts) return {0};
  return {step_bytes_ >> failures_};
}

// Stores the progress. The attempts restart at 0, because something was written.
void Rollup::set_mark(const RollupProgress& mark) {
  Statement(database_,
            "UPDATE rollup_progress SET tick_id = ?, target_tick_id = ?, next_subject = ?, next_subject_id = ?, "
            "attempts = 0 WHERE id = 1")
      .run(mark.tick_id, mark.target_tick_id, mark.next_subject, mark.next_subject_id);
}

bool Rollup::write_piece() {
  if (!segment_) return false;
  if (!machine_written_) {
    write_machine();
  } else if (next_ != segment_->memory.cend()) {
    write_memory();
  } else {
    write_end();
    hurry_ = hurry_ && segment_->ticks.last < target_;
    segment_.reset();
    return false;
  }
  return true;
}

void Rollup::write_machine() {
  std::vector<const std::vector<MachinePiece>*> known;
  for (std::size_t i = 0; i < segment_->machine.size(); ++i) {
    std::vector<MachinePiece>& pieces = segment_->machine[i];
    // Skips a metric that this kernel does not have.
    if (std::ranges::none_of(pieces, [](const MachinePiece& piece) { return piece.bucket.values[0].known; })) continue;
    for (MachinePiece& piece : pieces) piece.subject_id = info_of(kRolledMachineMetrics[i]).number;
    known.push_back(&pieces);
  }
  for (const Turn turn : {Turn::first, Turn::second}) {
    for (const auto* const pieces : known) {
      for (Tables& tier : tiers_) add_pieces(tier.machine, *pieces, tier.shape, turn);
    }
  }
  for (const Tables& tier : tiers_)
    roll_up_activity(database_, tier.shape, segment_->ticks.first, segment_->ticks.last);
  set_mark({segment_->ticks.first, segment_->ticks.last, 1, 0});
  machine_written_ = true;
}

void Rollup::write_memory() {
  const auto first = next_;
  const auto end = segment_->memory.cend();
  for (std::size_t written = 0; next_ != end && written < kPiecesAtOnce; ++next_) written += next_->second.size();
  for (const Turn turn : {Turn::first, Turn::second}) {
    for (auto at = first; at != next_; ++at) {
      const MemoryPiece& piece = at->second.front();
      const bool process = static_cast<SubjectKind>(piece.subject) == SubjectKind::process;
      const auto age_ms = process ? &TierShape::process_age_ms : &TierShape::group_age_ms;
      for (Tables& tier : tiers_) {
        if (piece.lived_ms >= tier.shape.*age_ms) add_pieces(tier.memory, at->second, tier.shape, turn);
      }
    }
  }
  for (auto at = first; at != next_; ++at) note_seen(at->second.front());
  const auto next = next_ == end ? std::pair(INT64_MAX, std::int64_t{0}) : next_->first;
  set_mark({segment_->ticks.first, segment_->ticks.last, next.first, next.second});
}

void Rollup::note_seen(const MemoryPiece& piece) {
  const auto subject = static_cast<SubjectKind>(piece.subject);
  if (subject == SubjectKind::identity) seen_identity_.run(piece.subject_id, segment_->end_ms);
  if (subject == SubjectKind::cgroup) seen_cgroup_.run(piece.subject_id, segment_->end_ms);
}

void Rollup::write_end() {
  Statement last(database_,
                 "SELECT id, recorded_ms + to_ms - from_ms FROM stretch WHERE last_tick_id = ? ORDER BY id LIMIT 1");
  Statement lengthen(database_, "UPDATE stretch SET last_tick_id = ?2, to_ms = ?3, to_boot_ms = ?4 WHERE id = ?1");
  Statement insert(database_,
                   "INSERT INTO stretch (run_id, first_tick_id, last_tick_id, from_ms, to_ms, to_boot_ms, recorded_ms, "
                   "gap) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Stretch& stretch : segment_->stretches) {
    const bool known = last.bind(stretch.first_tick_id - 1).step();
    const std::int64_t id = known ? last.integer(0) : 0;
    const std::int64_t recorded_ms = known ? last.integer(1) + stretch.pause_ms : 0;
    last.reset();
    if (known && stretch.goes_on) {
      lengthen.run(id, stretch.last_tick_id, stretch.to_ms, stretch.to_boot_ms);
    } else {
      insert.run(stretch.run_id, stretch.first_tick_id, stretch.last_tick_id, stretch.from_ms, stretch.to_ms,
                 stretch.to_boot_ms, recorded_ms, stretch.gap);
    }
  }
  const std::int64_t end = segment_->ticks.last;
  set_mark({end, end, 0, 0});
}

}  // namespace memoir
