#pragma once

// Checkpoints the WAL between ticks, when it is long or two minutes old. So the main file, which a plain copy takes,
// has nearly everything. SQLite's automatic checkpoint would run within a commit of a tick or of maintenance. It would
// delay that commit until all of the WAL is on the disk (https://sqlite.org/wal.html, "Performance Considerations").
// No write transaction is open during a checkpoint, and readers continue.

#include <cstdint>
#include <string>

#include "store/sqlite/file_system.h"

struct sqlite3;

namespace SQLite {
class Database;
}

namespace memoir {

class Checkpoints {
 public:
  // Disables the connection's automatic checkpoints.
  explicit Checkpoints(SQLite::Database& database);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Sets the maximum length of the -wal. At that length, make_space() must succeed before the next write.
  void set_most(std::int64_t bytes);

  // Call it after the commit of a tick, with the tick's time.
  void note_tick(std::int64_t boot_ms) { boot_ms_ = boot_ms; }

  // due() returns whether the WAL is old or long enough, overdue() whether it is too long to wait for an idle moment.
  // After a checkpoint that a reader prevented, both are false until the next commit.
  bool due() const { return committed_ && (frames_ >= max_frames_ / 5 * 4 || boot_ms_ >= next_boot_ms_); }
  bool overdue() const { return committed_ && frames_ >= max_frames_; }

  void run();

  // Returns true if the -wal has space, or can restart from its beginning. Returns false while a reader needs its
  // frames.
  bool make_space();

  // Checkpoints everything and empties the -wal, at the end of a run.
  void bring_all_home();

  // Returns a message if another program deleted, replaced or truncated the -wal or -shm; otherwise an empty text.
  // SQLite does not notice these changes, and a truncated -shm would raise SIGBUS. After a truncation the connection is
  // unusable; deleted files are still open. Deletes files that the next connection must not read, and renames other
  // programs' files.
  std::string loss();
  std::string truncation();

 private:
  std::int64_t wal_bytes() const;
  bool lost_frames();
  static int note(void* self, sqlite3*, const char*, int frames);

  SQLite::Database& database_;
  std::string path_;
  FileIdentity main_;
  FileIdentity wal_;  // all 0: not observed yet
  FileIdentity shm_;
  std::string truncation_;
  std::int64_t frame_bytes_;
  std::int64_t max_frames_ = 0;
  std::int64_t frames_ = 0;
  bool committed_ = false;  // whether anything was committed since the last run()
  std::int64_t boot_ms_ = 0;
  std::int64_t next_boot_ms_ = 0;  // time of the next checkpoint; the first one is due immediately
};

}  // namespace memoir
