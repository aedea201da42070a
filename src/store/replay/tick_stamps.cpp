#include "store/replay/tick_stamps.h"

#include "store/schema/sql.h"

namespace memoir {
namespace {

// A longer interval than any configuration allows. The time for which a tick is valid is processed in steps of five
// minutes, so the interval of a damaged file must be limited.
constexpr std::int64_t kMaxIntervalMs = 86'400'000;

}  // namespace

TickStamps::TickStamps(SQLite::Database& database, std::int64_t first_id, std::int64_t last_id)
    : ticks_(database, sql::tick_marks),
      run_(database, "SELECT boot_id, interval_ms, stop_reason FROM run WHERE id = ?") {
  go_to(first_id, last_id);
}

void TickStamps::go_to(std::int64_t first_id, std::int64_t last_id) {
  id_ = first_id - 1;
  last_id_ = last_id;
  ticks_.bind(first_id, last_id);
}

bool TickStamps::step() {
  if (!ticks_.step()) return false;
  id_ = ticks_.within(0, id_ + 1, last_id_);
  mark_.wall_ms = ticks_.integer(1);
  mark_.boot_ms = ticks_.integer(2);
  mark_.skipped = ticks_.integer(4);
  keyframe_ = ticks_.integer(5) == id_;
  const std::int64_t run_id = ticks_.integer(3);
  if (run_id == mark_.run_id) return true;
  mark_.run_id = run_id;
  if (!run_.bind(run_id).step()) return true;
  mark_.boot_id = run_.integer(0);
  mark_.interval_ms = run_.within(1, 0, kMaxIntervalMs);
  mark_.run_end = run_.text(2);
  run_.reset();
  return true;
}

}  // namespace memoir
