#pragma once

// What a database takes up: pages, those that are free, and its -wal.

#include <cstdint>

#include "store/sqlite/statement.h"

namespace memoir {

// The -wal is allowed to grow to that: the fewer checkpoints, the fewer pages are written twice.
inline constexpr std::int64_t kMostWalBytes = 20LL * 1024 * 1024;

// Moves what the -wal holds into the database and empties it, unless a reader is in the way.
void checkpoint(SQLite::Database& database);

// How large the file is, and how much of it is free to be used again.
struct Pages {
  std::int64_t bytes = 0;  // of a page
  std::int64_t all = 0;
  std::int64_t free = 0;

  std::int64_t used_bytes() const { return (all - free) * bytes; }
};
class PageCounter {
 public:
  explicit PageCounter(SQLite::Database& database);
  Pages count() { return {page_bytes_, all_.one().value_or(0), free_.one().value_or(0)}; }

 private:
  std::int64_t page_bytes_;
  Statement all_;
  Statement free_;
};

// Gives up to `count` free pages back to the file system.
void vacuum(SQLite::Database& database, std::int64_t count);

// What is left of the -wal when SQLite starts again at its begin.
void limit_wal_file(SQLite::Database& database, std::int64_t bytes);

// What a page takes up in the -wal.
std::int64_t wal_frame_bytes(SQLite::Database& database);

}  // namespace memoir
