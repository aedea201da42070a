#pragma once

// Brings the -wal home when it has grown long enough, or holds what is two minutes old, at a moment that the writer
// chooses: between ticks. So the main file alone, as a plain copy takes it, has nearly all. SQLite's own way is within
// whatever commit happens to make it so long, a tick's or a piece of maintenance's, which then takes as long as the
// disk needs for it all (https://sqlite.org/wal.html, "Performance Considerations"). No write transaction is open
// meanwhile, and readers go on.

#include <cstdint>

struct sqlite3;

namespace SQLite {
class Database;
}

namespace memoir {

class Checkpoints {
 public:
  // From now on the connection does nothing of this by itself.
  explicit Checkpoints(SQLite::Database& database);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // How long the -wal may get, as long as no reader is in the way.
  void set_most(std::int64_t bytes);

  // A tick of this moment was committed.
  void note_tick(std::int64_t boot_ms) { boot_ms_ = boot_ms; }

  // Old or long enough for it to be worth while; and so long that it cannot wait for a quiet moment. Not again before
  // the next commit, where a reader is in the way.
  bool due() const { return committed_ && (frames_ >= most_frames_ / 5 * 4 || boot_ms_ >= next_boot_ms_); }
  bool overdue() const { return committed_ && frames_ >= most_frames_; }

  void run();

 private:
  static int note(void* self, sqlite3*, const char*, int frames);

  SQLite::Database& database_;
  std::int64_t frame_bytes_;
  std::int64_t most_frames_ = 0;
  std::int64_t frames_ = 0;
  bool committed_ = false;  // since the last run()
  std::int64_t boot_ms_ = 0;
  std::int64_t next_boot_ms_ = 0;  // the first time at once
};

}  // namespace memoir
