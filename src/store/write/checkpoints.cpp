#include "store/write/checkpoints.h"

#include <SQLiteCpp/Database.h>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>
#include <utility>

#include "store/sqlite/pages.h"
#include "store/sqlite/pragma.h"
#include "store/sqlite/wal_file.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxAgeMs = 120'000;
// Wait after a checkpoint that could not finish because a reader still needed older pages.
constexpr std::int64_t kAgainMs = 5'000;

// Renames another program's file that is in the place of ours. Returns its new name. An empty file, as SQLite creates
// it, is deleted instead.
std::string keep_foreign(const std::string& path) {
  std::error_code error;
  const auto exists = [&error](const std::string& name) { return fs::exists(fs::symlink_status(name, error)); };
  std::string name = path + ".foreign";
  for (int number = 2; exists(name); ++number) name = fmt::format("{}.foreign-{}", path, number);
  if (file_bytes(path) > 0 && ::rename(path.c_str(), name.c_str()) == 0) return name;
  ::unlink(path.c_str());
  return {};
}

// Removes a file that the next connection must not read: ours is deleted, another program's is renamed. Returns the end
// of a message about the latter.
std::string remove(const std::string& path, const FileIdentity& ours) {
  if (ours == FileIdentity{} || identity_of(path) == ours) {
    ::unlink(path.c_str());
    return {};
  }
  const std::string kept = keep_foreign(path);
  return kept.empty() ? std::string() : fmt::format("; the other file was renamed to {}", kept);
}

}  // namespace

Checkpoints::Checkpoints(SQLite::Database& database)
    : database_(database),
      path_(sqlite3_db_filename(database.getHandle(), "main")),
      main_(identity_of(path_)),
      frame_bytes_(wal_frame_bytes(database)) {
  set_most(kMaxWalBytes);
  sqlite3_wal_hook(database.getHandle(), note, this);
}

Checkpoints::~Checkpoints() {
  sqlite3_wal_hook(database_.getHandle(), nullptr, nullptr);
}

void Checkpoints::set_most(std::int64_t bytes) {
  limit_wal_file(database_, bytes);
  max_frames_ = bytes / frame_bytes_;
}

void Checkpoints::run() {
  committed_ = false;
  int frames = 0;
  int brought_home = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(database_.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, &brought_home);
  next_boot_ms_ = boot_ms_ + (code == SQLITE_OK && brought_home == frames ? kMaxAgeMs : kAgainMs);
  // SQLITE_BUSY is no failure: another process is checkpointing, or holds a required lock.
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) throw SQLite::Exception(database_.getHandle(), code);
}

bool Checkpoints::make_space() {
  if (frames_ < max_frames_) return true;
  database_.setBusyTimeout(0);
  const int code =
      sqlite3_wal_checkpoint_v2(database_.getHandle(), nullptr, SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
  database_.setBusyTimeout(kWriterBusyMs);
  if ((code & 0xff) == SQLITE_BUSY) return false;
  if (code != SQLITE_OK) throw SQLite::Exception(database_.getHandle(), code);
  frames_ = 0;
  return true;
}

void Checkpoints::bring_all_home() {
  checkpoint(database_);
  frames_ = 0;
}

// Returns the size of the -wal that SQLite has open, even if it has been deleted.
std::int64_t Checkpoints::wal_bytes() const {
  sqlite3_file* file = nullptr;
  sqlite3_int64 bytes = 0;
  if (sqlite3_file_control(database_.getHandle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
      file == nullptr || file->pMethods == nullptr || file->pMethods->xFileSize(file, &bytes) != SQLITE_OK)
    return 0;
  return bytes;
}

bool Checkpoints::lost_frames() {
  if (frames_ == 0 || wal_bytes() >= kWalHeadBytes + frames_ * frame_bytes_) return false;
  // A checkpoint by another program may have emptied the -wal.
  int frames = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(database_.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, nullptr);
  if (code != SQLITE_OK || frames != 0) return true;
  frames_ = 0;
  return false;
}

std::string Checkpoints::truncation() {
  if (!truncation_.empty()) return truncation_;
  // https://sqlite.org/walformat.html, 2.2: 4,062 frames in the first block, 4,096 in each further one.
  constexpr std::int64_t block_bytes = 32'768;
  constexpr std::int64_t block_frames = 4'096;
  constexpr std::int64_t head_frames = 34;
  const std::int64_t blocks = 1 + (frames_ + head_frames - 1) / block_frames;
  const std::string shm = path_ + "-shm";
  const std::string wal = path_ + "-wal";
  const bool is_ours = shm_ != FileIdentity{} && identity_of(shm) == shm_;
  if (file_bytes(path_) == 0 && main_ != FileIdentity{} && identity_of(path_) == main_) {
    truncation_ = path_ + " was emptied while it was written";
    truncation_ += remove(wal, wal_);  // it is useless without the pages of the main file
  } else if (is_ours && file_bytes(shm) < blocks * block_bytes) {
    truncation_ = shm + " was truncated while in use";
  } else if (lost_frames()) {
    truncation_ = wal + " was truncated while it was written";
    // Its remaining frames may be older than the pages of the main file.
    truncation_ += remove(wal, wal_);
  }
  if (!truncation_.empty()) truncation_ += remove(shm, shm_);
  return truncation_;
}

std::string Checkpoints::loss() {
  std::string found = truncation();
  if (!found.empty()) return found;
  for (const auto& [suffix, known] : {std::pair("-wal", &wal_), std::pair("-shm", &shm_)}) {
    const std::string file = path_ + suffix;
    const FileIdentity before = std::exchange(*known, identity_of(file));
    if (before == FileIdentity{} || *known == before) continue;
    *known = {};
    const std::string kept = remove(file, before);
    return fmt::format("{} was {} while in use{}", file, kept.empty() ? "deleted or replaced" : "replaced", kept);
  }
  return "";
}

int Checkpoints::note(void* self, sqlite3*, const char*, int frames) {
  auto& checkpoints = *static_cast<Checkpoints*>(self);
  checkpoints.frames_ = frames;
  checkpoints.committed_ = true;
  return SQLITE_OK;
}

}  // namespace memoir
