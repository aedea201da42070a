#include "store/writer.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>

#include "base/log.h"
#include "base/reserve_closely.h"
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
#include "store/write/oom_kills.h"
#include "store/write/run_log.h"
#include "store/write/tick_store.h"

namespace memoir {
namespace {

// A check of many GiB must neither block recording nor delay a start until the service manager gives up
// (systemd.service(5), TimeoutStartSec). Damage beyond the limit is handled when it is encountered.
constexpr std::chrono::seconds kCheckWithin{30};

// Minimum number of ticks between keyframes if the cap leaves hardly any space.
constexpr std::int64_t kMinTicksAtOnce = 10;

Status check_after_crash(SQLite::Database& database, const std::string& path) {
  const CheckResult check = quick_check(database, kCheckWithin);
  if (!check.finished) {
    log_warning(
        fmt::format("{}: the check after an unclean end did not finish within {} s; no damage was found by then", path,
                    kCheckWithin.count()));
  }
  if (check.damage.empty()) return Done{};
  log_error(fmt::format("{}: the check after an unclean end found damage: {}", path, check.damage));
  return damaged(path, check.damage);
}

// Maximum number of reported changes in five minutes: a user with permission may change limits continuously.
constexpr std::int64_t kMaxLimitChanges = 30;
constexpr std::int64_t kTogetherMs = 5 * 60 * 1000;

std::string format_limit(std::optional<std::int64_t> kib) {
  return kib ? fmt::format("{:.1f} MiB", static_cast<double>(*kib) / 1024) : "none";
}

void add_changes(const CgroupSample& was, const CgroupSample& is, const Moment& at, std::vector<Event>& events) {
  const auto add = [&](const char* what, std::optional<std::int64_t> CgroupSample::*limit) {
    if (was.*limit == is.*limit) return;
    events.push_back({at, "limit-change",
                      fmt::format("{} of the cgroup {} was changed from {} to {}", what, end_of_path(is.path),
                                  format_limit(was.*limit), format_limit(is.*limit))});
  };
  add("The limit (memory.max)", &CgroupSample::max_kib);
  add("memory.high", &CgroupSample::high_kib);
  add("The swap limit (memory.swap.max)", &CgroupSample::swap_max_kib);
}

// Returns events for limits that changed between two ticks, to explain a limit that was reached later. Skips cgroups
// that are not in `before`. Both lists are sorted by path. `changes` counts the changes in the current five minutes.
std::vector<Event> limit_change_events(const std::vector<StoredSample<CgroupSample>>& before, const Tick& tick,
                                       LimitChanges& changes) {
  std::vector<Event> events;
  auto was = before.begin();
  for (const CgroupSample& is : tick.cgroups) {
    while (was != before.end() && was->last.path < is.path) ++was;
    if (was != before.end() && was->last.path == is.path) add_changes(was->last, is, tick.begin, events);
  }
  const std::int64_t block = tick.begin.boot_ms / kTogetherMs;
  if (changes.block != block) changes = {block, 0};
  const std::int64_t left = kMaxLimitChanges - changes.count;
  changes.count += std::ssize(events);
  if (std::ssize(events) <= left) return events;
  events.resize(static_cast<std::size_t>(std::max<std::int64_t>(left, 0)));
  if (left >= 0)
    events.push_back(
        {tick.begin, "limit-change", "More cgroup limits changed; further changes are not reported for up to 5 min"});
  return events;
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
  Status visit_names(std::int64_t since_ms, const std::function<void(const KnownName&)>& visit) override;
  Status begin_run(const RunInfo& run) override;
  Status write(const Tick& tick) override;
  Status write_event(const Event& event) override;
  Result<Maintenance> maintain() override;
  Status end_run(const Moment& at, const std::string& reason) override;

  // Ends a run that was left open, after checking the file.
  Status recover();

 private:
  // Checks that the -wal and -shm are unchanged; otherwise returns an error that names the problem.
  Status check_log();
  Error no_run() const { return {ErrorKind::io, path_ + ": no run is open"}; }
  WriterState state_at_start();
  void note_clock_step(const Tick& tick);
  void forget_state();
  Result<Maintenance> bring_home();
  Maintenance roll_up();
  void note_skipped_rollup();
  Maintenance hurry();

  std::string path_;
  RecorderLock lock_;
  std::unique_ptr<SQLite::Database> database_;
  Checkpoints checkpoints_;
  TickStore ticks_;
  Rollup rollup_;
  RetentionPass retention_;
  WriterState state_;
  WriterState next_;  // kept to reuse its memory
  bool recovered_ = false;
  std::int64_t run_id_ = 0;  // 0: no run is open
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
    // The + keeps SQLite from using the index by boot, because only few processes of a boot are alive.
    return every(*database_,
                 "SELECT p.pid, p.start_ticks, p.exec_count, p.comm, c.exe FROM process AS p "
                 "JOIN boot AS b ON b.id = +p.boot_id JOIN command AS c ON c.id = p.command_id "
                 "WHERE b.boot_uuid = ? AND p.exited_tick_id IS NULL ORDER BY p.pid, p.start_ticks, p.exec_count",
                 read, boot_id);
  });
}

Status SqliteWriter::visit_names(std::int64_t since_ms, const std::function<void(const KnownName&)>& visit) {
  return guarded(path_, [&]() -> Status {
    // Searches only the last rows of the table, which has no index by time.
    Statement rows(*database_,
                   "SELECT u.uid, c.exe, c.line, d.path, g.path, p.first_ms FROM ("
                   "SELECT MIN(id) AS id, MIN(first_ms) AS first_ms, user_id, command_id, cwd_id, cgroup_id FROM ("
                   "SELECT * FROM process ORDER BY id DESC LIMIT 65536) WHERE first_ms >= ? "
                   "GROUP BY user_id, command_id, cwd_id, cgroup_id) AS p "
                   "JOIN user AS u ON u.id = p.user_id JOIN command AS c ON c.id = p.command_id "
                   "JOIN directory AS d ON d.id = p.cwd_id JOIN cgroup AS g ON g.id = p.cgroup_id ORDER BY p.id");
    rows.bind(since_ms);
    while (rows.step())
      visit({static_cast<std::uint32_t>(rows.integer(0)), rows.name(1), rows.text(2), rows.name(3), rows.name(4),
             rows.integer(5)});
    return Done{};
  });
}

// Returns the state with the processes that ran at the end of an earlier run in this boot. The first tick continues or
// ends their rows.
WriterState SqliteWriter::state_at_start() {
  WriterState state;
  state.tick_id = last_tick_id(*database_);
  Statement keys(*database_, "SELECT name, id FROM meminfo_key ORDER BY id");
  while (keys.step()) state.meminfo_keys.push_back({keys.text(0), keys.integer(1), std::nullopt});
  state.oom_kills = last_oom_count(*database_, boot_id_);
  Statement rows(*database_,
                 "SELECT id, start_ms, identity_id, cgroup_id, pid, start_ticks, exec_count FROM process "
                 "WHERE +boot_id = ? AND exited_tick_id IS NULL ORDER BY pid, start_ticks, exec_count");
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
    checkpoints_.set_most(max_wal_bytes(run.retention));
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

Status SqliteWriter::check_log() {
  const std::string loss = checkpoints_.loss();
  return loss.empty() ? Status(Done{}) : Error{ErrorKind::not_found, loss};
}

Status SqliteWriter::write(const Tick& tick) {
  if (run_id_ == 0) return no_run();
  TRY(check_log());
  // With a longer -wal, the file would exceed its cap.
  if (!TRY(guarded(path_, [this]() -> Result<bool> { return checkpoints_.make_space(); })))
    return Error{ErrorKind::blocked, path_ + ": the -wal is full, and a reader prevents its reuse"};
  Status stored = guarded(path_, [&]() -> Status {
    // The copy gets space for the new processes: growing it later would need both for a time.
    next_.processes.clear();
    reserve_closely(next_.processes, state_.processes.size() + tick.born.size());
    next_ = state_;
    Transaction transaction(*database_, Transaction::Kind::write);
    note_clock_step(tick);
    insert_oom_victims(*database_, run_id_, tick);
    insert_oom_kills(*database_, run_id_, tick, next_.oom_kills);
    for (const Event& event : limit_change_events(state_.cgroups, tick, next_.limit_changes))
      insert_event(*database_, run_id_, event);
    store_limit_episodes(*database_, run_id_, state_.cgroup_details, tick, next_.limit_episodes);
    store_odd_lines(*database_, run_id_, tick);
    ticks_.store(tick, run_id_, boot_id_, next_);
    transaction.commit();
    std::swap(state_, next_);
    checkpoints_.note_tick(tick.begin.boot_ms);
    return Done{};
  });
  if (!stored && stored.error().kind == ErrorKind::refused) forget_state();
  // The tick is stored even if the checkpoint fails.
  if (stored && checkpoints_.overdue()) static_cast<void>(bring_home());
  return stored;
}

// Reads the state from the file again. The state of the last tick may contradict the file, and would cause every
// further tick to be refused.
void SqliteWriter::forget_state() {
  const Status read = guarded(path_, [&]() -> Status {
    state_ = state_at_start();
    return Done{};
  });
  if (!read) log_error(read.error().message);
}

// Checkpoints the -wal, with no transaction open.
Result<Maintenance> SqliteWriter::bring_home() {
  return guarded(path_, [&]() -> Result<Maintenance> {
    checkpoints_.run();
    return Maintenance{true, 0};
  });
}

Status SqliteWriter::write_event(const Event& event) {
  if (run_id_ == 0) return no_run();
  TRY(check_log());
  return guarded(path_, [&]() -> Status {
    insert_event(*database_, run_id_, event);
    return Done{};
  });
}

Result<Maintenance> SqliteWriter::maintain() {
  TRY(check_log());
  if (checkpoints_.due()) return bring_home();
  Result<Maintenance> done = guarded(path_, [&]() -> Result<Maintenance> {
    if (!checkpoints_.make_space()) return Maintenance{};
    if (rollup_.due()) return roll_up();
    if (run_id_ == 0) return Maintenance{};
    const Maintenance kept = retention_.step();
    if (!retention_.needs_room() || state_.tick_id < hurried_tick_id_ + kMinTicksAtOnce) return kept;
    return hurry();
  });
  if (!done) rollup_.forget(done.error().kind == ErrorKind::refused);
  return done;
}

void SqliteWriter::note_skipped_rollup() {
  const char* const text = "A step of the rollups failed three times; it was repeated without processes and groups";
  log_error(fmt::format("{}: {}", path_, text));
  if (run_id_ != 0 && state_.last_tick) insert_event(*database_, run_id_, {*state_.last_tick, "degraded", text});
}

// Rows can be deleted only up to the last rolled up keyframe, so a keyframe and a rollup step must come soon.
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
  const bool skips = rollup_.skips_subjects();
  if (!rollup_.write_piece() && skips) note_skipped_rollup();
  transaction.commit();
  return {true, steady_us() - start_us};
}

Status SqliteWriter::end_run(const Moment& at, const std::string& reason) {
  if (run_id_ == 0) return no_run();
  if (std::string cut = checkpoints_.truncation(); !cut.empty()) return Error{ErrorKind::not_found, std::move(cut)};
  Status ended = guarded(path_, [&]() -> Status {
    next_ = state_;
    Transaction transaction(*database_, Transaction::Kind::write);
    ticks_.merge_marks(next_);
    memoir::end_run(*database_, run_id_, at.wall_ms, reason);
    transaction.commit();
    run_id_ = 0;
    return Done{};
  });
  // The end is stored even if the checkpoint fails.
  if (ended)
    static_cast<void>(guarded(path_, [&]() -> Status {
      checkpoints_.bring_all_home();
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
  auto lock = TRY(acquire_lock(path));
  return open_file(path, std::move(lock), durability, Recovery::now);
}

Result<std::unique_ptr<Writer>> Writer::open_locked(const std::string& path, Durability durability) {
  return open_file(path, {}, durability, Recovery::later);
}

}  // namespace memoir
