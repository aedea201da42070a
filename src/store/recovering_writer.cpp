#include "store/recovering_writer.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/integrity.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/wal_locks.h"

namespace memoir {
namespace {

// Time limit of each check for damage, so that the checks and reopenings of one attempt together take less than the
// unit's WatchdogSec.
constexpr std::chrono::seconds kConfirmWithin{20};
// How often a file in which checks find no damage is reopened before it counts as damaged.
constexpr int kMaxReopened = 2;
constexpr int kMaxAttempts = 2 + kMaxReopened;

// "process 812 (python3)"
std::string named(std::optional<std::int32_t> pid) {
  if (!pid || *pid <= 0) return "a process";
  Buffer buffer;
  const auto comm = read_file(fmt::format("/proc/{}/comm", *pid), buffer);
  return fmt::format("process {}{}", *pid, comm ? fmt::format(" ({})", to_printable(trim(*comm))) : "");
}

// The order of renaming. The -wal comes first: after a crash in between, the old file just lacks its -wal. In another
// order, SQLite could apply the remaining -wal to a new file.
constexpr std::array kDatabaseSuffixes{"-wal", "-shm", ""};

bool is_free(const std::string& name) {
  std::error_code error;
  for (const char* suffix : kDatabaseSuffixes) {
    if (std::filesystem::exists(std::filesystem::symlink_status(name + suffix, error))) return false;
  }
  return true;
}

std::string free_name(const std::string& path, std::int64_t wall_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(wall_ms)};
  const std::string name =
      fmt::format("{}.damaged-{:%Y%m%d-%H%M%S}", path, std::chrono::floor<std::chrono::seconds>(time));
  std::string free = name;
  for (int number = 2; !is_free(free); ++number) free = fmt::format("{}-{}", name, number);
  return free;
}

// Renames the file at `path` with its -wal and -shm to "F.damaged-YYYYMMDD-HHMMSS…", in UTC, with "-2" and so on if
// the name exists. Their content may still be recovered (sqlite3's .recover). Returns the new name. The caller holds
// the lock, and has none of these files open.
Result<std::string> quarantine(const std::string& path, std::int64_t wall_ms) {
  const std::string name = free_name(path, wall_ms);
  for (const char* suffix : kDatabaseSuffixes) {
    if (std::rename((path + suffix).c_str(), (name + suffix).c_str()) != 0 && errno != ENOENT)
      return errno_error(errno, "rename the damaged", path + suffix);
  }
  return name;
}

class RecoveringWriter final : public Writer {
 public:
  RecoveringWriter(std::string path, const Clock& clock, RecoveringOptions options)
      : path_(std::move(path)), clock_(clock), options_(std::move(options)) {}

  Status open();

  Result<std::vector<KnownProcess>> known_processes(const std::string& boot_id) override;
  Status visit_names(std::int64_t since_ms, const std::function<void(const KnownName&)>& visit) override;
  Status begin_run(const RunInfo& run) override;
  Status write(const Tick& tick) override;
  Status write_event(const Event& event) override;
  Result<Maintenance> maintain() override;
  Status end_run(const Moment& at, const std::string& reason) override;

 private:
  template <typename Action>
  Status steadily(const Moment& at, Action&& action);
  Status make_ready(const Moment& at);
  void note_held(const Status& done, const Moment& at);
  Status open_file();
  Status begin(const Moment& at);
  Status report();
  bool leave(const Error& error);
  void leave_moved();
  Status judge_damaged();
  Result<bool> is_damaged() const;
  Status move_damaged();
  void leave_log(const Error& loss);

  const std::string path_;
  const Clock& clock_;
  const RecoveringOptions options_;
  RecorderLock lock_;
  std::optional<WalLocks> locks_;  // outlives the file
  std::unique_ptr<Writer> file_;   // nullptr: the file could not be opened yet
  FileIdentity identity_;          // identity of the open file
  std::optional<RunInfo> run_;
  bool begun_ = false;     // whether `run_` was started in this file
  bool new_file_ = false;  // the previous file was left, and no run has started in the next one
  std::string damage_;     // damage of the file at the path, as reported by SQLite
  int reopened_ = 0;       // number of reopenings since the last stored tick, because of damage that no check found
  std::optional<std::int64_t> quarantined_ms_;
  std::vector<Event> unattributed_;
  // The time since which another process's lock has kept data from being stored, and the name of that process.
  struct Held {
    Moment since;
    std::string by;
  };
  std::optional<Held> held_;
};

// At the start, a problem that the user has to fix is returned as an error; others are logged.
Status RecoveringWriter::open() {
  Status opened = open_file();
  if (opened) return opened;
  const Error& error = opened.error();
  if (error.kind == ErrorKind::damaged) {
    damage_ = error.message;
  } else if (error.kind == ErrorKind::io || (lock_ && error.kind == ErrorKind::blocked)) {
    log_error(fmt::format("{}; memoird records into memory until the file can be opened", error.message));
  } else {
    return error;
  }
  return Done{};
}

Status RecoveringWriter::open_file() {
  TRY(check_place(path_));
  const auto owner = check_owner(path_);
  // The owner is checked first, so that no lock file is created next to a foreign file.
  if (!owner && owner.error().kind != ErrorKind::damaged && owner.error().kind != ErrorKind::blocked)
    return owner.error();
  if (!lock_) {
    lock_ = TRY(acquire_lock(path_));
  }
  locks_.emplace(path_);
  if (!owner) return owner.error();
  file_ = TRY(Writer::open_locked(path_, options_.durability));
  identity_ = identity_of(path_);
  return Done{};
}

Result<std::vector<KnownProcess>> RecoveringWriter::known_processes(const std::string& boot_id) {
  if (!file_) return std::vector<KnownProcess>{};
  auto known = file_->known_processes(boot_id);
  if (known || !leave(known.error())) return known;
  return std::vector<KnownProcess>{};
}

Status RecoveringWriter::visit_names(std::int64_t since_ms, const std::function<void(const KnownName&)>& visit) {
  if (!file_) return Done{};
  Status visited = file_->visit_names(since_ms, visit);
  return visited || !leave(visited.error()) ? visited : Status(Done{});
}

// Makes the file ready and runs `action` on it. If the file is damaged or no longer there, tries again with the next
// file.
template <typename Action>
Status RecoveringWriter::steadily(const Moment& at, Action&& action) {
  for (int attempt = 1;; ++attempt) {
    Status ready = guarded(path_, [&] { return make_ready(at); });
    // The values to store did not cause this error.
    if (!ready && ready.error().kind == ErrorKind::refused) ready = Error{ErrorKind::io, ready.error().message};
    Status done = ready ? action() : ready;
    note_held(done, at);
    if (done) reopened_ = 0;
    if (done || !leave(done.error()) || attempt == kMaxAttempts) return done;
  }
}

void RecoveringWriter::note_held(const Status& done, const Moment& at) {
  const bool held = !done && done.error().kind == ErrorKind::blocked;
  if (held && !held_) {
    held_ = Held{at, named(locks_ ? locks_->writer_blocker() : std::nullopt)};
    log_warning(
        fmt::format("{} holds a lock on {}-shm; nothing can be stored until the lock is released", held_->by, path_));
  }
  if (!done || !held_) return;
  const Moment now = clock_.now();
  unattributed_.push_back(
      {now, "blocked",
       fmt::format("{} held a lock on {}-shm for {:.1f} s; samples waited in memory during that time", held_->by, path_,
                   static_cast<double>(now.boot_ms - held_->since.boot_ms) / 1000)});
  held_.reset();
}

Status RecoveringWriter::make_ready(const Moment& at) {
  if (file_ && identity_of(path_) != identity_) leave_moved();
  if (!damage_.empty()) TRY(judge_damaged());
  if (!file_) TRY(open_file());
  if (run_ && !begun_) TRY(begin(at));
  return report();
}

Status RecoveringWriter::begin(const Moment& at) {
  RunInfo run = *run_;
  if (new_file_) run.started = at;
  TRY(file_->begin_run(run));
  begun_ = true;
  if (std::exchange(new_file_, false) && options_.on_new_file) options_.on_new_file();
  return Done{};
}

Status RecoveringWriter::report() {
  while (begun_ && !unattributed_.empty()) {
    Status written = file_->write_event(unattributed_.front());
    if (!written && written.error().kind != ErrorKind::refused) return written;
    if (!written) log_error(written.error().message);
    unattributed_.erase(unattributed_.begin());
  }
  return Done{};
}

// Returns whether to try another file after this error.
bool RecoveringWriter::leave(const Error& error) {
  const bool lost_log = file_ && error.kind == ErrorKind::not_found;
  if (error.kind != ErrorKind::damaged && !lost_log) return false;
  if (lost_log && identity_of(path_) != identity_) {
    leave_moved();  // the file was moved with its -wal, after make_ready() checked it
    return true;
  }
  if (lost_log) leave_log(error);
  file_.reset();
  begun_ = false;
  new_file_ = true;
  if (!lost_log) damage_ = error.message;
  return true;
}

// Leaves a file that was emptied, or lost its -wal or -shm. Recording continues from what the main file has: everything
// up to the last checkpoint, or nothing if it was emptied.
void RecoveringWriter::leave_log(const Error& loss) {
  const Moment now = clock_.now();
  // A deleted file is still open, and can be checkpointed.
  const bool saved = begun_ && file_->end_run(now, "moved").ok();
  const char* const lost = file_bytes(path_) == 0 ? "its data is lost, and recording starts again"
                                                  : "what was stored in the last two minutes may be lost";
  const std::string text = fmt::format("{}; {}", loss.message, saved ? "nothing is lost" : lost);
  log_error(text);
  unattributed_.push_back({now, "moved", text});
}

void RecoveringWriter::leave_moved() {
  const Moment now = clock_.now();
  const bool deleted = identity_of(path_) == FileIdentity{};
  const std::string text = fmt::format("{} was {} while it was written; a new file was started", path_,
                                       deleted ? "deleted or moved" : "replaced by another file");
  log_error(text);
  unattributed_.push_back({now, "moved", text});
  // A moved file is left complete: closing it checkpoints its -wal.
  if (begun_) static_cast<void>(file_->end_run(now, "moved"));
  file_.reset();
  begun_ = false;
  new_file_ = true;
  // A reader kept the -wal from being emptied. SQLite would mistake it for the -wal of the new file, and delete it.
  if (deleted && file_bytes(path_ + "-wal") > 0) {
    const auto aside = quarantine(path_, now.wall_ms);
    if (aside) log_error(fmt::format("{0}-wal belonged to the deleted file and was renamed to {1}-wal", path_, *aside));
  }
  // The folder may have been replaced, too, so the lock is acquired again.
  lock_ = {};
}

// Decides whether reported damage is real, because SQLite also reports it when reads fail temporarily. Ticks wait in
// memory until that is decided.
Status RecoveringWriter::judge_damaged() {
  if (reopened_ >= kMaxReopened || TRY(is_damaged())) return move_damaged();
  ++reopened_;
  log_warning(fmt::format("{}; a check of the file finds no damage, so it is opened again", damage_));
  damage_.clear();
  return Done{};
}

// Two checks, each on its own connection, must agree: if reads fail intermittently, each check finds different damage.
Result<bool> RecoveringWriter::is_damaged() const {
  const bool with_wal = options_.durability == Durability::full;
  const std::string first = TRY(find_damage(path_, with_wal, kConfirmWithin));
  if (first.empty()) return false;
  const std::string second = TRY(find_damage(path_, with_wal, kConfirmWithin));
  if (first != second) return Error{ErrorKind::io, fmt::format("{}: two checks for damage disagree", path_)};
  return true;
}

Status RecoveringWriter::move_damaged() {
  const Moment now = clock_.now();
  if (quarantined_ms_ && now.boot_ms - *quarantined_ms_ < options_.quarantine_every_ms) {
    return Error{
        ErrorKind::io,
        fmt::format("{}; a damaged file was quarantined a short time ago, so the disk may be at fault", damage_)};
  }
  const auto aside = TRY(quarantine(path_, now.wall_ms));
  quarantined_ms_ = now.boot_ms;
  const std::string text = fmt::format("{} was damaged and was renamed to {}; a new file was started", path_, aside);
  log_error(damage_);
  log_message(LogLevel::error, text, message_id::kQuarantinedFile,
              {{"MEMOIR_FILE", path_}, {"MEMOIR_QUARANTINED_AS", aside}});
  unattributed_.push_back({now, "quarantined", text});
  damage_.clear();
  return Done{};
}

Status RecoveringWriter::begin_run(const RunInfo& run) {
  if (!run_) {
    run_ = run;
    begun_ = false;
  }
  return steadily(run.started, [] { return Done{}; });
}

Status RecoveringWriter::write(const Tick& tick) {
  Status written = steadily(tick.begin, [&] { return file_->write(tick); });
  // Processes that only this tick describes must be described again.
  if (!written && written.error().kind == ErrorKind::refused && options_.on_new_file) options_.on_new_file();
  return written;
}

Status RecoveringWriter::write_event(const Event& event) {
  return steadily(event.at, [&] { return file_->write_event(event); });
}

Result<Maintenance> RecoveringWriter::maintain() {
  if (!begun_) return Maintenance{};
  auto done = file_->maintain();
  if (!done) leave(done.error());
  return done;
}

Status RecoveringWriter::end_run(const Moment& at, const std::string& reason) {
  Status ended = steadily(at, [&] { return file_->end_run(at, reason); });
  if (ended) {
    run_.reset();
    begun_ = false;
  }
  return ended;
}

}  // namespace

Result<std::unique_ptr<Writer>> open_recovering(const std::string& path, const Clock& clock,
                                                RecoveringOptions options) {
  auto writer = std::make_unique<RecoveringWriter>(path, clock, std::move(options));
  TRY(writer->open());
  return std::unique_ptr<Writer>(std::move(writer));
}

}  // namespace memoir
