#include "store/writer.h"

#include <SQLiteCpp/Database.h>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>

#include "base/log.h"
#include "store/replay/tick_cursor.h"
#include "store/retention/pass.h"
#include "store/rollup/rollup.h"
#include "store/rows/columns.h"
#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/integrity.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/pages.h"
#include "store/write/checkpoints.h"
#include "store/write/limit_changes.h"
#include "store/write/oom_kills.h"
#include "store/write/run_log.h"
#include "store/write/tick_store.h"

namespace memoir {
namespace {

// A check of many GiB must not hold up the recording, nor a start for so long that the service manager gives it up
// (systemd.service(5), TimeoutStartSec). Damage that it did not come to shows when it is met, and is dealt with then.
constexpr std::chrono::seconds kCheckWithin{30};

// Where the cap leaves hardly any room: ticks between keyframes at the least.
constexpr std::int64_t kLeastTicksAtOnce = 10;

Status check_after_crash(SQLite::Database& database, const std::string& path) {
  const CheckResult check = quick_check(database, kCheckWithin);
  if (!check.finished) {
    log_warning(
        fmt::format("{}: the check after an unclean end was not finished within {} s, and no damage found so far", path,
                    kCheckWithin.count()));
  }
  if (check.damage.empty()) return Done{};
  log_error(fmt::format("{}: the check after an unclean end found damage: {}", path, check.damage));
  return damaged(path, check.damage);
}

class SqliteWriter final : public Writer {
 public:
  SqliteWriter(std::string path, RecorderLock lock, std::unique_ptr<SQLite::Database> database)
      : path_(std::move(path)),
        lock_(std::move(lock)),
        database_(std::move(database)),
        checkpoints_(*database_),
        ticks_(*database_),
        rollup_(*database_),
        retention_(*database_) {}

  Result<std::vector<KnownProcess>> known_processes(const std::string& boot_id) override;
  Status begin_run(const RunInfo& run) override;
  Status write(const Tick& tick) override;
  Status write_event(const Event& event) override;
  Result<Maintenance> maintain() override;
  Status end_run(const Moment& at, const std::string& reason) override;

  // Ends what a run that was never closed left open, after a look at the file.
  Status recover();

 private:
  Error no_run() const { return {ErrorKind::io, path_ + ": no run has begun"}; }
  WriterState state_at_start();
  void note_clock_step(const Tick& tick);
  void forget_state();
  Result<Maintenance> bring_home();
  Maintenance roll_up();
  Maintenance hurry();

  std::string path_;
  RecorderLock lock_;
  std::unique_ptr<SQLite::Database> database_;
  Checkpoints checkpoints_;
  TickStore ticks_;
  Rollup rollup_;
  RetentionPass retention_;
  WriterState state_;
  WriterState next_;  // kept for its memory
  bool recovered_ = false;
  std::int64_t run_id_ = 0;  // 0: none is open
  std::int64_t boot_id_ = 0;
  std::int64_t hurried_tick_id_ = 0;
};

Status SqliteWriter::recover() {
  if (recovered_) return Done{};
  return guarded(path_, [&]() -> Status {
    Transaction transaction(*database_, Transaction::Kind::write);
    if (end_unclean_runs(*database_)) {
      TRY(check_after_crash(*database_, path_));
      ticks_.merge_marks(state_);
    }
    transaction.commit();
    recovered_ = true;
    return Done{};
  });
}

Result<std::vector<KnownProcess>> SqliteWriter::known_processes(const std::string& boot_id) {
  return guarded(path_, [&]() -> Result<std::vector<KnownProcess>> {
    const auto read = [](const Statement& row) { return KnownProcess{read_key(row, 0), row.text(3), row.text(4)}; };
    // The + keeps SQLite from the index by boot, which has all that ever lived: those that live are few.
    return every(*database_,
                 "SELECT p.pid, p.start_ticks, p.exec_count, p.comm, c.exe FROM process AS p "
                 "JOIN boot AS b ON b.id = +p.boot_id JOIN command AS c ON c.id = p.command_id "
                 "WHERE b.boot_uuid = ? AND p.gone_tick_id IS NULL ORDER BY p.pid, p.start_ticks, p.exec_count",
                 read, boot_id);
  });
}

// Whoever lived at the end of an earlier run in this boot: their rows are gone on with, or ended by the first tick.
WriterState SqliteWriter::state_at_start() {
  WriterState state;
  state.tick_id = last_tick_id(*database_);
  Statement keys(*database_, "SELECT name, id FROM meminfo_key ORDER BY id");
  while (keys.step()) state.meminfo_keys.push_back({keys.text(0), keys.integer(1), std::nullopt});
  state.oom_kills = last_oom_count(*database_, boot_id_);
  Statement rows(*database_,
                 "SELECT id, start_ms, identity_id, cgroup_id, pid, start_ticks, exec_count FROM process "
                 "WHERE +boot_id = ? AND gone_tick_id IS NULL ORDER BY pid, start_ticks, exec_count");
  rows.bind(boot_id_);
  while (rows.step()) {
    LiveProcess live;
    live.id = rows.integer(0);
    live.start_ms = rows.integer(1);
    live.groups = {rows.integer(2), rows.integer(3)};
    live.last.key = read_key(rows, 4);
    state.processes.push_back(live);
  }
  return state;
}

Status SqliteWriter::begin_run(const RunInfo& run) {
  if (run_id_ != 0) return Error{ErrorKind::io, path_ + ": a run is open already"};
  TRY(recover());
  return guarded(path_, [&]() -> Status {
    Transaction transaction(*database_, Transaction::Kind::write);
    const auto last = last_run(*database_);
    const std::int64_t boot_id = store_boot(*database_, run.boot);
    const std::int64_t run_id = insert_run(*database_, boot_id, run);
    if (last) insert_break_events(*database_, *last, run_id, boot_id, run.started);
    store_retention(*database_, run.retention);
    boot_id_ = boot_id;
    state_ = state_at_start();
    transaction.commit();
    run_id_ = run_id;
    retention_.set_limits(run.retention);
    checkpoints_.set_most(most_wal_bytes(run.retention));
    return Done{};
  });
}

void SqliteWriter::note_clock_step(const Tick& tick) {
  if (!state_.last_tick) return;
  const Moment& last = *state_.last_tick;
  const std::int64_t step = (tick.begin.wall_ms - last.wall_ms) - (tick.begin.boot_ms - last.boot_ms);
  if (std::abs(step) <= kClockStepMs) return;
  insert_event(*database_, run_id_,
               {tick.begin, "clock-step",
                fmt::format("The wall clock was set {} by {:.1f} s", step > 0 ? "forward" : "back",
                            static_cast<double>(std::abs(step)) / 1000.0)});
}

Status SqliteWriter::write(const Tick& tick) {
  if (run_id_ == 0) return no_run();
  Status stored = guarded(path_, [&]() -> Status {
    next_ = state_;
    Transaction transaction(*database_, Transaction::Kind::write);
    note_clock_step(tick);
    insert_oom_victims(*database_, run_id_, tick);
    for (const Event& event : oom_kill_events(tick, next_.oom_kills)) insert_event(*database_, run_id_, event);
    for (const Event& event : limit_change_events(state_.cgroups, tick, next_.limit_changes))
      insert_event(*database_, run_id_, event);
    ticks_.store(tick, run_id_, boot_id_, next_);
    transaction.commit();
    std::swap(state_, next_);
    checkpoints_.note_tick(tick.begin.boot_ms);
    return Done{};
  });
  if (!stored && stored.error().kind == ErrorKind::refused) forget_state();
  // The tick is stored, whether or not the -wal can be brought home.
  if (stored && checkpoints_.overdue()) static_cast<void>(bring_home());
  return stored;
}

// What is remembered of the last tick may contradict the file, and would make it refuse every further tick.
void SqliteWriter::forget_state() {
  const Status read = guarded(path_, [&]() -> Status {
    state_ = state_at_start();
    return Done{};
  });
  if (!read) log_error(read.error().message);
}

// The -wal, with no transaction open.
Result<Maintenance> SqliteWriter::bring_home() {
  return guarded(path_, [&]() -> Result<Maintenance> {
    checkpoints_.run();
    return Maintenance{true, 0};
  });
}

Status SqliteWriter::write_event(const Event& event) {
  if (run_id_ == 0) return no_run();
  return guarded(path_, [&]() -> Status {
    insert_event(*database_, run_id_, event);
    return Done{};
  });
}

Result<Maintenance> SqliteWriter::maintain() {
  if (checkpoints_.due()) return bring_home();
  Result<Maintenance> done = guarded(path_, [&]() -> Result<Maintenance> {
    if (rollup_.due()) return roll_up();
    if (run_id_ == 0) return Maintenance{};
    const Maintenance kept = retention_.step();
    if (!retention_.needs_room() || state_.tick_id < hurried_tick_id_ + kLeastTicksAtOnce) return kept;
    return hurry();
  });
  if (!done) rollup_.forget();
  return done;
}

// Rows can go only up to the last keyframe that is rolled up: both have to come soon.
Maintenance SqliteWriter::hurry() {
  state_.keyframe_wanted = true;
  hurried_tick_id_ = state_.tick_id;
  rollup_.hurry();
  return {true, 0};
}

Maintenance SqliteWriter::roll_up() {
  rollup_.prepare();
  Transaction transaction(*database_, Transaction::Kind::write);
  const std::int64_t start_us = steady_us();
  rollup_.write_piece();
  transaction.commit();
  return {true, steady_us() - start_us};
}

Status SqliteWriter::end_run(const Moment& at, const std::string& reason) {
  if (run_id_ == 0) return no_run();
  Status ended = guarded(path_, [&]() -> Status {
    next_ = state_;
    Transaction transaction(*database_, Transaction::Kind::write);
    ticks_.merge_marks(next_);
    memoir::end_run(*database_, run_id_, at.wall_ms, reason);
    transaction.commit();
    run_id_ = 0;
    return Done{};
  });
  // The end is stored, whether or not what waits in the -wal can be brought home now.
  if (ended)
    static_cast<void>(guarded(path_, [&]() -> Status {
      checkpoint(*database_);
      return Done{};
    }));
  return ended;
}

enum class Recovery { now, later };

Result<std::unique_ptr<Writer>> open_file(const std::string& path, RecorderLock lock, Durability durability,
                                          Recovery recovery) {
  auto database = TRY(open_for_writing(path, durability));
  return guarded(path, [&]() -> Result<std::unique_ptr<Writer>> {
    auto writer = std::make_unique<SqliteWriter>(path, std::move(lock), std::move(database));
    if (recovery == Recovery::now) TRY(writer->recover());
    return std::unique_ptr<Writer>(std::move(writer));
  });
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::open(const std::string& path, Durability durability) {
  TRY(check_place(path));
  TRY(check_owner(path));
  auto lock = TRY(take_lock(path));
  return open_file(path, std::move(lock), durability, Recovery::now);
}

Result<std::unique_ptr<Writer>> Writer::open_locked(const std::string& path, Durability durability) {
  return open_file(path, {}, durability, Recovery::later);
}

}  // namespace memoir
