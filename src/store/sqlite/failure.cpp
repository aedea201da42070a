#include "store/sqlite/failure.h"

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>
#include <new>
#include <sqlite3.h>

namespace memoir {

Error damaged(const std::string& path, const std::string& how) {
  return {ErrorKind::damaged,
          fmt::format("{}: the database is damaged ({}); move it aside with its -wal and -shm, and start the recorder "
                      "again",
                      path, how)};
}

namespace {

Error sqlite_error(const std::string& path, const SQLite::Exception& failure) {
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
      return error(ErrorKind::denied, "the file cannot be opened; check that the folder exists, and its permissions");
    case SQLITE_CORRUPT:
      return damaged(path, fmt::format("SQLite: {}", failure.what()));
    case SQLITE_NOTADB:
      return error(ErrorKind::damaged, "the file is not a Memoir database; name another file with --db");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorKind::blocked, "another program has locked the file; stop that program or try again");
    case SQLITE_IOERR:
      return error(ErrorKind::io, "the file could not be read or written; check the disk");
    case SQLITE_INTERRUPT:
      return error(ErrorKind::io, "the answer takes too long; use a shorter range");
    case SQLITE_NOMEM:
      return error(ErrorKind::io, "the answer takes too much memory; use a shorter range");
    case SQLITE_TOOBIG:
      return error(ErrorKind::refused, "a text is longer than SQLite accepts");
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return error(ErrorKind::refused, "a value breaks a rule of the schema");
    case SQLITE_RANGE:
      return error(ErrorKind::damaged, "the file contains a number that Memoir never writes");
    default:
      return error(ErrorKind::io, "the database operation failed");
  }
}

}  // namespace

Error store_error(const std::string& path, const std::exception& failure) {
  if (const auto* sqlite = dynamic_cast<const SQLite::Exception*>(&failure)) return sqlite_error(path, *sqlite);
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr)
    return {ErrorKind::io, path + ": there is not enough memory"};
  return {ErrorKind::refused, fmt::format("{}: the database operation failed ({})", path, failure.what())};
}

}  // namespace memoir
