#include "store/recovering_writer.h"

#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <utility>

#include "base/log.h"
#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/wal_locks.h"
#include "store/write/set_aside.h"

namespace memoir {
namespace {

constexpr std::int64_t kWarnEveryMs = 600'000;

// Which file is at a path, or none.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

std::string named(std::optional<std::int32_t> pid) {
  return pid && *pid > 0 ? fmt::format("process {}", *pid) : std::string("a process");
}

class RecoveringWriter final : public Writer {
 public:
  RecoveringWriter(std::string path, const Clock& clock, RecoveringOptions options)
      : path_(std::move(path)), clock_(clock), options_(std::move(options)) {}

  Status open();

  Result<std::vector<KnownProcess>> known_processes(const std::string& boot_id) override;
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
  Status tell();
  bool leave(const Error& error);
  void leave_moved();
  Status move_damaged();
  void watch_wal();

  const std::string path_;
  const Clock& clock_;
  const RecoveringOptions options_;
  RecorderLock lock_;
  std::optional<WalLocks> locks_;  // outlives the file
  std::unique_ptr<Writer> file_;   // none: it could not be opened yet
  FileIdentity identity_;          // of the open file
  std::optional<RunInfo> run_;
  bool begun_ = false;  // `run_`, in this file
  bool anew_ = false;   // a file was left for another, which no run has begun in yet
  std::string damage_;  // of the file at the path, which is to be set aside
  std::optional<std::int64_t> set_aside_ms_;
  std::vector<Event> untold_;
  // Of when the first is that we could not store for a lock that another process holds, and which that is.
  struct Held {
    Moment since;
    std::optional<std::int32_t> by;
  };
  std::optional<Held> held_;
  bool wal_is_long_ = false;
  std::optional<std::int64_t> wal_warned_ms_;
};

// At start, where whatever is wrong with the place or the file is the user's to fix.
Status RecoveringWriter::open() {
  Status opened = open_file();
  if (opened) return opened;
  const Error& error = opened.error();
  if (error.kind == ErrorKind::damaged) {
    damage_ = error.message;
  } else if (error.kind == ErrorKind::io || (lock_ && error.kind == ErrorKind::blocked)) {
    log_error(fmt::format("{}; records into memory until it can be opened", error.message));
  } else {
    return error;
  }
  return Done{};
}

Status RecoveringWriter::open_file() {
  TRY(check_place(path_));
  const auto owner = check_owner(path_);
  // Before there is a lock file beside what is not ours.
  if (!owner && owner.error().kind != ErrorKind::damaged && owner.error().kind != ErrorKind::blocked)
    return owner.error();
  if (!lock_) {
    lock_ = TRY(take_lock(path_));
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

// Does `action` on a file that is ready for it; if that is damaged or not there any more, once more on the next.
template <typename Action>
Status RecoveringWriter::steadily(const Moment& at, Action&& action) {
  for (int attempt = 1;; ++attempt) {
    Status ready = guarded(path_, [&] { return make_ready(at); });
    // Not by a fault of what is to be stored.
    if (!ready && ready.error().kind == ErrorKind::refused) ready = Error{ErrorKind::io, ready.error().message};
    Status done = ready ? action() : ready;
    note_held(done, at);
    if (done || !leave(done.error()) || attempt == 2) return done;
  }
}

void RecoveringWriter::note_held(const Status& done, const Moment& at) {
  const bool held = !done && done.error().kind == ErrorKind::blocked;
  if (held && !held_) {
    held_ = Held{at, locks_ ? locks_->writer_held_by() : std::nullopt};
    log_warning(
        fmt::format("{} holds a lock on {}-shm: nothing can be stored until it lets go", named(held_->by), path_));
  }
  if (!done || !held_) return;
  const Moment now = clock_.now();
  untold_.push_back(
      {now, "held",
       fmt::format("{} held a lock on {}-shm for {:.1f} s: nothing could be stored meanwhile, and what was "
                   "sampled waited in memory",
                   named(held_->by), path_, static_cast<double>(now.boot_ms - held_->since.boot_ms) / 1000)});
  held_.reset();
}

Status RecoveringWriter::make_ready(const Moment& at) {
  if (file_ && identity_of(path_) != identity_) leave_moved();
  if (!damage_.empty()) TRY(move_damaged());
  if (!file_) TRY(open_file());
  if (run_ && !begun_) TRY(begin(at));
  return tell();
}

Status RecoveringWriter::begin(const Moment& at) {
  RunInfo run = *run_;
  if (anew_) run.started = at;
  TRY(file_->begin_run(run));
  begun_ = true;
  if (std::exchange(anew_, false) && options_.on_anew) options_.on_anew();
  return Done{};
}

Status RecoveringWriter::tell() {
  while (begun_ && !untold_.empty()) {
    Status written = file_->write_event(untold_.front());
    if (!written && written.error().kind != ErrorKind::refused) return written;
    if (!written) log_error(written.error().message);
    untold_.erase(untold_.begin());
  }
  return Done{};
}

// Whether another file is to be tried after this error.
bool RecoveringWriter::leave(const Error& error) {
  if (error.kind != ErrorKind::damaged) return false;
  file_.reset();
  begun_ = false;
  anew_ = true;
  damage_ = error.message;
  return true;
}

void RecoveringWriter::leave_moved() {
  const Moment now = clock_.now();
  const bool deleted = identity_of(path_) == FileIdentity{};
  const std::string text = fmt::format("{} was {} while it was written; a new one was begun", path_,
                                       deleted ? "deleted or moved" : "replaced by another file");
  log_error(text);
  untold_.push_back({now, "moved", text});
  // Whoever moved it gets a file that is complete: closing it brings home what is in its -wal.
  if (begun_) static_cast<void>(file_->end_run(now, "moved"));
  file_.reset();
  begun_ = false;
  anew_ = true;
  // A reader kept it from being emptied: SQLite would take it for one of the new file, and delete it.
  if (deleted && file_bytes(path_ + "-wal") > 0) {
    const auto aside = set_aside(path_, now.wall_ms);
    if (aside)
      log_error(
          fmt::format("{0}-wal, which belongs to the file that is gone, was set aside as {1}-wal", path_, *aside));
  }
  // The folder may be another one, too.
  lock_ = {};
}

Status RecoveringWriter::move_damaged() {
  const Moment now = clock_.now();
  if (set_aside_ms_ && now.boot_ms - *set_aside_ms_ < options_.set_aside_every_ms) {
    return Error{ErrorKind::io, fmt::format("{}; it was set aside not long ago, so the disk may be at fault", damage_)};
  }
  const auto aside = TRY(set_aside(path_, now.wall_ms));
  set_aside_ms_ = now.boot_ms;
  const std::string text = fmt::format("{} was damaged, and was set aside as {}; a new one was begun", path_, aside);
  log_error(damage_);
  log_message(LogLevel::error, text, message_id::kQuarantinedFile,
              {{"MEMOIR_FILE", path_}, {"MEMOIR_QUARANTINED_AS", aside}});
  untold_.push_back({now, "set-aside", text});
  damage_.clear();
  return Done{};
}

// Checkpoints cannot reset the -wal while a reader holds an old state of it (https://sqlite.org/wal.html, "Avoiding
// Excessively Large WAL Files"). Afterwards it shrinks by itself, to the limit that the database is set up with.
void RecoveringWriter::watch_wal() {
  const std::int64_t bytes = file_bytes(path_ + "-wal");
  if (bytes <= options_.long_wal_bytes) {
    if (std::exchange(wal_is_long_, false)) log_info(fmt::format("{}-wal is short again", path_));
    return;
  }
  const Moment now = clock_.now();
  const std::string text = fmt::format(
      "{}-wal has grown to {} MiB, because {} has been reading for long, or holds a lock; it shrinks when that ends",
      path_, bytes >> 20, named(locks_ ? locks_->wal_held_by() : std::nullopt));
  if (!wal_warned_ms_ || now.boot_ms - *wal_warned_ms_ >= kWarnEveryMs) {
    wal_warned_ms_ = now.boot_ms;
    log_warning(text);
  }
  if (!std::exchange(wal_is_long_, true)) untold_.push_back({now, "wal", text});
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
  if (written) watch_wal();
  // The processes that only this tick introduced are introduced again.
  if (!written && written.error().kind == ErrorKind::refused && options_.on_anew) options_.on_anew();
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
