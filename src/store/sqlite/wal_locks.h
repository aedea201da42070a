#pragma once

// Who holds a lock on "F-shm" that keeps others from their work. Whoever may read that file can hold a read lock on any
// byte of it, and SQLite then finds the database busy (https://sqlite.org/walformat.html, 2.3.1, names the bytes).

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"

namespace memoir {

// A process that closes the file loses all locks that it has on it (fcntl(2)), those of its own SQLite included: keep
// this for as long as the database is open.
class WalLocks {
 public:
  explicit WalLocks(std::string path) : path_(std::move(path)) {}

  // The process that keeps the recorder from storing. For the recorder, whose own locks do not count; and for readers,
  // to whom the recorder at work is none.
  std::optional<std::int32_t> writer_held_by();
  std::optional<std::int32_t> reader_sees_writer_held_by();
  // The process that reads, so that the -wal cannot begin again at its start, or keeps it from being brought home.
  std::optional<std::int32_t> wal_held_by();

 private:
  struct Found;
  std::optional<Found> find(std::int64_t first, std::int64_t count);

  std::string path_;
  Fd shm_;
};

}  // namespace memoir
