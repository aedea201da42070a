#pragma once

// Finds processes that block others by a lock on "F-shm". Any process that may read that file can hold a read lock on
// any byte of it, and SQLite then finds the database busy (https://sqlite.org/walformat.html, 2.3.1, names the bytes).

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"

namespace memoir {

// A process that closes the file loses all its locks on it (fcntl(2)), including those of its own SQLite: keep this
// object as long as the database is open.
class WalLocks {
 public:
  explicit WalLocks(std::string path) : path_(std::move(path)) {}

  // Both return the process that keeps the recorder from storing; nullopt if there is none. The first is for the
  // recorder, and ignores its own locks. The second is for readers, and ignores the locks that the recorder needs. Once
  // the -wal has `max_frames`, a process that reads the -wal keeps the recorder from storing, because the -wal cannot
  // restart from its beginning.
  std::optional<std::int32_t> writer_blocker();
  std::optional<std::int32_t> reader_sees_writer_held_by(std::int32_t recorder, std::int64_t max_frames);

 private:
  struct Found;
  std::optional<Found> find(std::int64_t first, std::int64_t count);

  std::string path_;
  Fd shm_;
};

}  // namespace memoir
