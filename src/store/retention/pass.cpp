#include "store/retention/pass.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/clock.h"
#include "store/tables.h"

namespace memoir {
namespace {

// If rows newer than the last rollup step use more than 1/kNewShare of the cap, they are deleted before older tiers.
constexpr std::int64_t kNewShare = 4;
constexpr std::int64_t kSizeDays = 31;
constexpr std::int64_t kVacuumPages = 16;
// Up to this number of free pages, or 1/kIdleShare of all pages, stay in the file, because they are reused soon.
constexpr std::int64_t kMinIdlePages = 256;
constexpr std::int64_t kIdleShare = 20;

// Maximum growth by a tick and a rollup step before retention runs.
constexpr std::int64_t kMaxReserveBytes = 8LL * 1024 * 1024;

std::int64_t reserve_bytes(const Retention& limits) {
  return std::min(kMaxReserveBytes, limits.max_bytes / 8);
}

}  // namespace

const std::array<RetentionPass::Stage, 9> RetentionPass::kStages{
    &RetentionPass::store_cuts,    &RetentionPass::delete_ticks,  &RetentionPass::delete_samples,
    &RetentionPass::delete_blocks, &RetentionPass::delete_excess, &RetentionPass::forget_processes,
    &RetentionPass::forget_events, &RetentionPass::forget_runs,   &RetentionPass::give_back,
};

RetentionPass::RetentionPass(SQLite::Database& database, std::int64_t piece_us)
    : database_(database),
      piece_us_(piece_us),
      pages_(database),
      ticks_(database, tables_of(TableKind::ticks).front().name),
      excess_(database),
      forget_(database),
      noted_(database, "SELECT 1 FROM store_size WHERE recorded_day = ?"),
      mark_(database, "SELECT tick_id, target_tick_id FROM rollup_progress WHERE id = 1") {
  for (const StoreTable& table : tables_of(TableKind::samples)) samples_.emplace_back(database, table.name);
  for (const TableKind kind : {TableKind::rollups, TableKind::marks}) {
    for (const StoreTable& table : tables_of(kind)) blocks_.emplace_back(database, table);
  }
}

std::int64_t max_wal_bytes(const Retention& limits) {
  return limits.max_bytes == 0 ? kMaxWalBytes : std::min(kMaxWalBytes, limits.max_bytes / 8);
}

void RetentionPass::set_limits(const Retention& limits) {
  limits_ = limits;
  planned_for_ = -1;
}

bool RetentionPass::is_over_cap(const Pages& pages) const {
  if (limits_.max_bytes == 0) return false;
  return pages.used_bytes() > limits_.max_bytes - max_wal_bytes(limits_) - reserve_bytes(limits_);
}

bool RetentionPass::has_idle_pages(const Pages& pages) const {
  if (pages.free == 0) return false;
  const bool too_large = limits_.max_bytes != 0 && pages.all * pages.bytes > limits_.max_bytes - max_wal_bytes(limits_);
  const std::int64_t share = giving_back_ ? 2 * kIdleShare : kIdleShare;
  return too_large || pages.free > std::max(kMinIdlePages, pages.all / share);
}

// Returns whether there is something to do.
bool RetentionPass::plan() {
  if (!mark_.bind().step()) return false;
  const std::int64_t tick_id = mark_.integer(0);
  const bool half_written = mark_.integer(1) > tick_id;
  mark_.reset();
  if (half_written) return false;
  if (planned_for_ != tick_id) {
    if (planned_for_ < 0) forget_.restart();
    cutoffs_.emplace(database_, limits_);
    planned_for_ = tick_id;
    settled_bytes_ = pages_.count().used_bytes();
    begin_stages();
  }
  if (stage_ < kStages.size()) return true;
  const Pages now = pages_.count();
  // Unused names are deleted before make_room() lets more rows expire.
  if (is_over_cap(now) && (forget_.may_find_unused() || make_room(now))) return true;
  if (has_idle_pages(now)) stage_ = kStages.size() - 1;
  return stage_ < kStages.size() || is_daily_due();
}

// A user's excess is deleted first. If rows newer than the last rollup step use much of the space, they are rolled up
// and deleted before the older tiers.
bool RetentionPass::make_room(const Pages& pages) {
  if (excess_.choose(planned_for_)) {
    begin_stages();
    return true;
  }
  const bool much_is_new = pages.used_bytes() - settled_bytes_ > limits_.max_bytes / kNewShare;
  const bool some_goes = cutoffs_->tighten_ticks() || (!much_is_new && cutoffs_->tighten_tiers());
  if (some_goes) begin_stages();
  needs_room_ = !some_goes;
  return some_goes;
}

void RetentionPass::begin_stages() {
  stage_ = 0;
  names_scanned_ = false;
  needs_room_ = false;
  forget_.begin(*cutoffs_);
}

Maintenance RetentionPass::step() {
  if (!plan()) return {};
  // If this piece fails, the plan is made again.
  const std::int64_t planned = std::exchange(planned_for_, -1);
  std::optional<ReferencedIds> used;
  if (stage_ == kStages.size()) used = read_referenced_ids(database_);
  Transaction transaction(database_, Transaction::Kind::write);
  const std::int64_t begin_us = steady_us();
  const auto in_time = [this, begin_us] { return steady_us() - begin_us < piece_us_; };
  const std::int64_t begin_bytes = pages_.count().used_bytes();
  if (used) {
    if (forget_.unused(*used, in_time)) note_size();
    names_scanned_ = true;
  } else {
    do {
      if (!(this->*kStages[stage_])()) ++stage_;
    } while (stage_ < kStages.size() && in_time());
  }
  settled_bytes_ += pages_.count().used_bytes() - begin_bytes;
  transaction.commit();
  planned_for_ = planned;
  return {true, steady_us() - begin_us};
}

void store_retention(SQLite::Database& database, const Retention& limits) {
  Statement(database, "UPDATE retention SET raw_ms = ?, max_bytes = ? WHERE id = 1")
      .run(limits.raw_ms, limits.max_bytes);
  for (const TierShape& shape : kRollupTiers) {
    Statement(database, fmt::format("UPDATE retention SET {}_ms = ? WHERE id = 1", shape.retained))
        .run(limits.*shape.kept_ms);
  }
}

bool RetentionPass::store_cuts() {
  cutoffs_->store();
  return false;
}

bool RetentionPass::delete_ticks() {
  return ticks_.run(0, cutoffs_->first_tick() - 1) > 0;
}

bool RetentionPass::delete_samples() {
  return std::ranges::any_of(samples_,
                             [this](BatchDelete& rows) { return rows.run(0, cutoffs_->first_tick() - 1) > 0; });
}

bool RetentionPass::delete_blocks() {
  for (auto& [tier, rows] : blocks_) {
    for (const auto& [first, last] : cutoffs_->of(tier).expired()) {
      // The marks of all time have a day before the epoch.
      if (rows.run(std::max<std::int64_t>(first, 0), last) > 0) return true;
    }
  }
  return false;
}

std::int64_t RetentionPass::today() const {
  return cutoffs_->past().now() / kDayLengthMs;
}

// Returns whether the daily work is due: once per day of recording, and at most once in each pass.
bool RetentionPass::is_daily_due() {
  if (names_scanned_ || !cutoffs_ || cutoffs_->past().empty()) return false;
  return !noted_.one(today());
}

// Stores the size of the store, one row per day of recording, for the last month.
void RetentionPass::note_size() {
  Statement(database_, "INSERT INTO store_size (recorded_day, used_bytes) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .run(today(), pages_.count().used_bytes());
  Statement(database_, "DELETE FROM store_size WHERE recorded_day < ?").run(today() - kSizeDays);
}

bool RetentionPass::give_back() {
  giving_back_ = has_idle_pages(pages_.count());
  if (giving_back_) vacuum(database_, kVacuumPages);
  return giving_back_;
}

}  // namespace memoir
