#include "store/write/checkpoints.h"

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include "store/sqlite/pages.h"

namespace memoir {
namespace {

constexpr std::int64_t kMostAgeMs = 120'000;
// Where a reader still needed the older pages.
constexpr std::int64_t kAgainMs = 5'000;

}  // namespace

Checkpoints::Checkpoints(SQLite::Database& database) : database_(database), frame_bytes_(wal_frame_bytes(database)) {
  set_most(kMostWalBytes);
  sqlite3_wal_hook(database.getHandle(), note, this);
}

Checkpoints::~Checkpoints() {
  sqlite3_wal_hook(database_.getHandle(), nullptr, nullptr);
}

void Checkpoints::set_most(std::int64_t bytes) {
  limit_wal_file(database_, bytes);
  most_frames_ = bytes / frame_bytes_;
}

void Checkpoints::run() {
  committed_ = false;
  int frames = 0;
  int brought_home = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(database_.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, &brought_home);
  next_boot_ms_ = boot_ms_ + (code == SQLITE_OK && brought_home == frames ? kMostAgeMs : kAgainMs);
  // Somebody else is at it, or holds what it would need.
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) throw SQLite::Exception(database_.getHandle(), code);
}

int Checkpoints::note(void* self, sqlite3*, const char*, int frames) {
  auto& checkpoints = *static_cast<Checkpoints*>(self);
  checkpoints.frames_ = frames;
  checkpoints.committed_ = true;
  return SQLITE_OK;
}

}  // namespace memoir
