#include "store/sqlite/failure.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace memoir {

Error damaged(const std::string& path, const std::string& how) {
  return {ErrorKind::damaged,
          fmt::format("{}: the database is damaged ({}); move it aside with its -wal and -shm, and start the recorder "
                      "again",
                      path, how)};
}

Error store_error(const std::string& path, const SQLite::Exception& failure) {
  const auto error = [&](ErrorKind kind, const char* text) {
    return Error{kind, fmt::format("{}: {} (SQLite: {})", path, text, failure.what())};
  };
  switch (failure.getErrorCode() & 0xff) {
    case SQLITE_FULL:
      return error(ErrorKind::io, "the disk is full; free some space on its file system");
    case SQLITE_READONLY:
      return error(ErrorKind::denied, "the file or its folder is read-only; check its owner, mode and mount");
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return error(ErrorKind::denied, "cannot be opened; check that the folder exists and who may use it");
    case SQLITE_CORRUPT:
      return damaged(path, fmt::format("SQLite: {}", failure.what()));
    case SQLITE_NOTADB:
      return error(ErrorKind::damaged, "is not a Memoir database; name another file with --db");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorKind::blocked, "is locked by another program; end that or try again");
    case SQLITE_IOERR:
      return error(ErrorKind::io, "could not be read or written; check the disk");
    case SQLITE_INTERRUPT:
      return error(ErrorKind::io, "the answer takes too long; ask about a shorter range");
    case SQLITE_NOMEM:
      return error(ErrorKind::io, "the answer takes too much memory; ask about a shorter range");
    case SQLITE_TOOBIG:
      return error(ErrorKind::io, "holds a longer text than Memoir writes");
    case SQLITE_RANGE:
      return error(ErrorKind::damaged, "holds a number that Memoir never writes");
    default:
      return error(ErrorKind::io, "the store failed");
  }
}

}  // namespace memoir
