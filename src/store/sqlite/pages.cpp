#include "store/sqlite/pages.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <string>

#include "store/sqlite/pragma.h"
#include "store/sqlite/wal_file.h"

namespace memoir {
namespace {

constexpr int kCheckpointBusyMs = 200;

}  // namespace

void checkpoint(SQLite::Database& database) {
  database.setBusyTimeout(kCheckpointBusyMs);
  try {
    Statement(database, "PRAGMA wal_checkpoint(TRUNCATE)").finish();
  } catch (const SQLite::Exception&) {
    database.setBusyTimeout(kWriterBusyMs);
    throw;
  }
  database.setBusyTimeout(kWriterBusyMs);
}

PageCounter::PageCounter(SQLite::Database& database)
    : page_bytes_(number(database, "PRAGMA page_size")),
      all_(database, "PRAGMA page_count"),
      free_(database, "PRAGMA freelist_count") {}

void vacuum(SQLite::Database& database, std::int64_t count) {
  Statement(database, fmt::format("PRAGMA incremental_vacuum({})", count)).finish();
}

void limit_wal_file(SQLite::Database& database, std::int64_t bytes) {
  const std::string limit = std::to_string(bytes);
  set_pragma(database, "journal_size_limit", limit, limit);
}

std::int64_t wal_frame_bytes(SQLite::Database& database) {
  return number(database, "PRAGMA page_size") + kWalFrameHeadBytes;
}

}  // namespace memoir
