#pragma once

// The size of a database: its pages, the free ones, and its -wal.

#include <cstdint>

#include "store/sqlite/statement.h"

namespace memoir {

// Maximum size of the -wal. The longer it is, the fewer checkpoints there are, and the fewer pages are written twice.
inline constexpr std::int64_t kMaxWalBytes = 20LL * 1024 * 1024;

// Moves the -wal's content into the database and empties it, unless a reader prevents it.
void checkpoint(SQLite::Database& database);

// Size of the file in pages, and how many of them are free.
struct Pages {
  std::int64_t bytes = 0;  // size of a page
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

// Returns up to `count` free pages to the file system.
void vacuum(SQLite::Database& database, std::int64_t count);

// Sets the size to which the -wal is truncated when SQLite starts it over.
void limit_wal_file(SQLite::Database& database, std::int64_t bytes);

// Returns the size of a page in the -wal, with its header.
std::int64_t wal_frame_bytes(SQLite::Database& database);

}  // namespace memoir
