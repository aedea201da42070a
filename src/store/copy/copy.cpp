#include "store/copy/copy.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sqlite3.h>

#include "base/atomic_file.h"
#include "store/copy/parts.h"
#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/integrity.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/statement.h"

namespace memoir {

Status check_copy(const CopyPlan& plan) {
  std::error_code error;
  if (std::filesystem::equivalent(plan.from, plan.to, error))
    return malformed(plan.to + " is the database itself; name another file");
  if (const std::string database = database_of(plan.to); !database.empty())
    return malformed(fmt::format("{} belongs to {}; name another file", plan.to, database));
  if (const auto owner = read_lock_state(plan.to).owner) {
    return Error{ErrorKind::blocked, fmt::format("process {} records into {}; name another file", *owner, plan.to)};
  }
  return Done{};
}

Error copy_error(const CopyPlan& plan, const SQLite::Exception& failure) {
  // Either code may be an extended result code (sqlite.org/rescode.html).
  const int code = failure.getErrorCode() & 0xff;
  const int extended = std::max(failure.getErrorCode(), failure.getExtendedErrorCode());
  if (code == SQLITE_INTERRUPT) return stopped(plan);
  // The source is never written to.
  const bool writing = code == SQLITE_FULL || code == SQLITE_READONLY || extended == SQLITE_IOERR_WRITE ||
                       extended == SQLITE_IOERR_FSYNC || extended == SQLITE_IOERR_TRUNCATE;
  return store_error(writing ? plan.to : plan.from, failure);
}

Error stopped(const CopyPlan& plan) {
  return {ErrorKind::io, fmt::format("stopped; {} was not written", plan.to)};
}

void end_open_runs(SQLite::Database& copy) {
  Statement(copy,
            "UPDATE main.run AS r SET stop_reason = 'copied', stopped_ms = COALESCE((SELECT n.last_tick_ms FROM "
            "run_named AS n "
            "WHERE n.id = r.id), (SELECT MAX(s.to_ms) FROM stretch AS s WHERE s.run_id = r.id), started_ms) "
            "WHERE stopped_ms IS NULL")
      .finish();
}

namespace {

// Checks the copy for damage before it replaces an existing file.
Status check_written(const CopyPlan& plan, const std::string& path) {
  bool going = true;
  const Result<std::string> damage =
      check_file(path, [&](int percent) { return going = plan.progress(kWritten + (100 - kWritten) * percent / 100); });
  if (!going) return stopped(plan);
  if (damage && damage->empty()) return Done{};
  const std::string how = damage ? *damage : damage.error().message;
  const auto source = check_file(plan.from, [](int) { return true; });
  if (source && source->empty())
    return Error{ErrorKind::io,
                 fmt::format("{}: the copy is damaged ({}) and was deleted; check the disk", plan.to, how)};
  Error error = damaged(plan.from, how);
  error.message += fmt::format("; {} was not written", plan.to);
  return error;
}

}  // namespace

Status finish_copy(const CopyPlan& plan, AtomicFile& partial) {
  TRY(check_written(plan, partial.partial_path()));
  for (const char* companion : {"-wal", "-shm", "-journal"}) {
    std::error_code error;
    std::filesystem::remove(plan.to + companion, error);
    if (error) {
      return Error{ErrorKind::io,
                   fmt::format("{}{} is in the way and cannot be removed: {}", plan.to, companion, error.message())};
    }
  }
  return partial.commit();
}

namespace {

// Copies the pages of one state of the file. Ticks that are recorded during the copy do not restart it.
Status copy_pages(const CopyPlan& plan, SQLite::Database& source, SQLite::Database& copy) {
  constexpr int pages_at_once = 256;
  const Transaction state(source, Transaction::Kind::read);
  Statement(source, "SELECT COUNT(*) FROM sqlite_schema").finish();
  SQLite::Backup backup(copy, "main", source, "main");
  do {
    const int total = std::max(backup.getTotalPageCount(), 1);
    const int done = backup.getTotalPageCount() - backup.getRemainingPageCount();
    if (!plan.progress(static_cast<int>(std::int64_t{kWritten} * done / total))) return stopped(plan);
  } while (backup.executeStep(pages_at_once) != SQLITE_DONE);
  return Done{};
}

}  // namespace

Status back_up(const CopyPlan& plan) {
  TRY(check_copy(plan));
  auto source = TRY(open_for_reading(plan.from));
  auto partial = TRY(AtomicFile::begin(plan.to, plan.existing));
  try {
    const auto copy = open_unchecked(partial.partial_path(), SQLite::OPEN_READWRITE);
    TRY(copy_pages(plan, *source, *copy));
    make_single_file(*copy);
    end_open_runs(*copy);
  } catch (const SQLite::Exception& failure) {
    return copy_error(plan, failure);
  }
  return finish_copy(plan, partial);
}

}  // namespace memoir
