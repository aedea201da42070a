#include "store/sqlite/database.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/own_file.h"
#include "store/schema/migrations.h"
#include "store/schema/schema_check.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/integrity.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/pages.h"
#include "store/sqlite/pragma.h"
#include "store/sqlite/wal_file.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;
using DatabasePtr = std::unique_ptr<SQLite::Database>;

constexpr const char* kReadOnly = "?mode=ro";
constexpr const char* kImmutable = "?mode=ro&immutable=1";

// The last commit that reads the twelve schemas from before the first release.
constexpr const char* kLastPrerelease = "f9198cb";

void log_sqlite(void*, int code, const char* text) {
  const std::string line = fmt::format("SQLite ({}): {}", code, text);
  if ((code & 0xff) == SQLITE_NOTICE || code == SQLITE_WARNING_AUTOINDEX) return log_debug(line);
  log_warning(line);
}

// Must run before SQLite's first use; SQLite ignores it later.
void route_log() {
  static std::once_flag once;
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_LOG, log_sqlite, nullptr); });
}

// Must run before WAL is set, because these two settings are fixed once the first page is written. A tick changes one
// page in each of half a dozen tables, so half the usual page size halves the written bytes.
void set_layout(SQLite::Database& database) {
  set_pragma(database, "page_size", "2048", "2048");
  set_pragma(database, "auto_vacuum", "INCREMENTAL", "2");
}

// Keeps the -wal and -shm after a clean stop, because a reader without write permission on the folder needs them.
// Closing does not checkpoint, so a damaged file is closed unchanged; the end of a run checkpoints the -wal.
void keep_wal(SQLite::Database& database) {
  int persist = 1;
  if (sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_PERSIST_WAL, &persist) != SQLITE_OK ||
      sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr) != SQLITE_OK) {
    throw SQLite::Exception(database.getHandle());
  }
}

void set_up(SQLite::Database& database, Durability durability, bool fresh) {
  if (fresh) set_layout(database);
  set_pragma(database, "journal_mode", "WAL", "wal");
  set_pragma(database, "synchronous", durability == Durability::full ? "FULL" : "NORMAL",
             durability == Durability::full ? "2" : "1");
  // A cache of 250 KiB, because it stays resident. Ticks and rollups of 300 processes are no slower than with 1 MB
  // (store_bench).
  set_pragma(database, "cache_size", "-250", "-250");
  set_pragma(database, "temp_store", "MEMORY", "2");
  set_pragma(database, "secure_delete", "FAST", "2");
}

Error not_ours(const std::string& path) {
  return malformed(path + " is not a Memoir database; name another file with --db");
}

// Returns the version of the schema; 0 for a database without a table. Fails for other programs' files and for every
// other version of the schema.
Result<std::int32_t> known_version(SQLite::Database& database, const std::string& path) {
  const std::int64_t application = number(database, "PRAGMA application_id");
  const std::int32_t version = schema_version(database);
  if (application == 0 && version == 0 && number(database, "SELECT COUNT(*) FROM sqlite_schema") == 0) return 0;
  if (application != kApplicationId || version < 0) return not_ours(path);
  if (version == kSchemaVersion) return version;
  return malformed(fmt::format(
      "{} has schema {}, but this program reads only schema {}; the file is from a later version of Memoir, or from "
      "before the first release (commit {} is the last that reads such files); use that version, or name another "
      "file with --db",
      path, version, kSchemaVersion, kLastPrerelease));
}

// Returns the path as an escaped URI with an empty host, or with "./" in front. Otherwise SQLite would read "//x/y" as
// host and path, "file:x" as a URI and ":memory:" as no file.
std::string file_uri(const std::string& path, const char* parameters) {
  std::string uri = path.starts_with('/') ? "file://" : "file:./";
  for (const char letter : path) {
    if (letter == '%' || letter == '?' || letter == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    } else {
      uri += letter;
    }
  }
  return uri + parameters;
}

// Opens a file without SQLite's own mutex, which would be locked for each column that is read. A reader belongs to one
// thread at a time.
Result<DatabasePtr> open_checked(const std::string& path, const char* parameters, int flags) {
  return guarded(path, [&]() -> Result<DatabasePtr> {
    auto database = open_unchecked(path, flags | SQLite::OPEN_NOMUTEX, parameters);
    harden(*database);
    const auto version = TRY(known_version(*database, path));
    if (version == 0) return not_ours(path);
    TRY(check_schema(*database, path));
    Statement(*database, "PRAGMA temp_store = MEMORY").finish();
    return database;
  });
}

// Returns the version of the schema; 0 without any content. Does not touch another program's file: if all data is in
// the main file, it is opened as immutable, because otherwise SQLite would create a -shm.
Result<std::int32_t> inspect(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error) || fs::file_size(path, error) == 0) return 0;
  Buffer start;
  const auto header = TRY(read_start(path, kHeaderBytes, start));
  const FileOwner owner = owner_of(header);
  if (owner == FileOwner::foreign) return not_ours(path);
  const bool in_wal = fs::file_size(path + "-wal", error) > 0 && !error;
  auto version = guarded(path, [&]() -> Result<std::int32_t> {
    const auto database = open_unchecked(path, SQLite::OPEN_READONLY, in_wal ? kReadOnly : kImmutable);
    return known_version(*database, path);
  });
  if (version || version.error().kind != ErrorKind::damaged) return version;
  if (!is_ours_damaged(path)) return not_ours(path);
  return damaged(path, "its header");
}

// Creates a missing file, which SQLite would make readable for all users.
Status create(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) return Done{};
  TRY(open_own_file(path, 0640));
  return Done{};
}

// Suffixes of the database and of the files that SQLite uses next to it.
constexpr std::array kFiles{"", "-wal", "-shm", "-journal"};

// Checks the files that will be written, because other users may have replaced them. Follows a symbolic link of this
// user or root.
Status check_files(const std::string& path) {
  std::string real = path;
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode) && (found.st_uid == geteuid() || found.st_uid == 0)) {
    std::error_code error;
    real = fs::canonical(path, error);
    if (error) return Error{ErrorKind::denied, path + " is a dangling symbolic link; name a file with --db"};
  }
  TRY(check_regular(real));
  for (const char* suffix : kFiles) TRY(check_own_file(real + suffix));
  return Done{};
}

// Returns whether no process writes to the file and all data is in the main file.
bool is_still(const std::string& path) {
  std::error_code error;
  const auto wal_bytes = fs::file_size(path + "-wal", error);
  return (error || wal_bytes == 0) && !read_lock_state(path).owner;
}

// Detects a plain copy of a file that is being recorded: https://sqlite.org/fileformat.html, 1.3.3, describes how the
// header shows that a database has a -wal.
bool lacks_wal(const std::string& path) {
  std::error_code error;
  Buffer start;
  const auto header = read_start(path, kHeaderBytes, start);
  return header && header->size() == kHeaderBytes && (*header)[18] == 2 && !fs::exists(path + "-wal", error);
}

Result<DatabasePtr> open_as_reader(const std::string& path, int flags) {
  for (const char* suffix : kFiles) TRY(check_regular(path + suffix));
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) {
    return Error{ErrorKind::not_found,
                 path + " does not exist; start memoird to record, or name another file with --db"};
  }
  if (!error && bytes == 0) return malformed(path + " is empty; nothing was recorded into it yet");
  // The file is inspected before SQLite creates a -wal and a -shm next to a foreign file.
  const auto version = inspect(path);
  const bool unreadable = version ? *version == 0 : version.error().kind == ErrorKind::damaged;
  if (unreadable && lacks_wal(path)) {
    return malformed(path + ": its -wal, which has the latest data, is missing; copy a database with `memoir backup`");
  }
  if (!version && (version.error().kind == ErrorKind::malformed || version.error().kind == ErrorKind::damaged))
    return version.error();
  auto database = open_checked(path, kReadOnly, flags);
  // If there are no -wal and -shm and they cannot be created, the file can be read only while no process writes to it.
  if (!database && database.error().kind == ErrorKind::denied && is_still(path)) {
    auto still = open_checked(path, kImmutable, flags);
    if (still) return still;
  }
  return database;
}

}  // namespace

DatabasePtr open_unchecked(const std::string& path, int flags, const char* parameters) {
  return std::make_unique<SQLite::Database>(file_uri(path, parameters), flags | SQLite::OPEN_URI, kWriterBusyMs);
}

Status check_owner(const std::string& path) {
  TRY(inspect(path));
  return Done{};
}

Status check_place(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path, error).parent_path();
  if (!fs::is_directory(folder, error)) {
    return Error{ErrorKind::not_found,
                 fmt::format("{}: the folder {} does not exist; create it first", path, folder.string())};
  }
  return check_files(path);
}

Result<DatabasePtr> open_for_writing(const std::string& path, Durability durability) {
  route_log();
  TRY(check_place(path));
  const auto version = TRY(inspect(path));
  TRY(create(path));
  // The -wal is checked before SQLite drops all frames after the damage.
  const std::string damage = durability == Durability::full ? wal_damage_of(path) : "";
  if (!damage.empty()) return damaged(path, damage);
  return guarded(path, [&]() -> Result<DatabasePtr> {
    auto database = open_unchecked(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX);
    harden(*database);
    keep_wal(*database);
    if (version > 0) {
      // A lost page may look like a changed schema. Only sqlite_schema is checked, because checking other tables would
      // run virtual tables of a foreign schema.
      const auto schema = check_schema(*database, path);
      if (!schema)
        return quick_check(*database, "sqlite_schema").empty() ? schema.error() : damaged(path, "its schema");
    }
    set_up(*database, durability, version == 0);
    migrate(*database, version);
    // The checkpoint makes the main file a complete database from the start. If the disk fails now, the next
    // checkpoint tries again.
    if (version < kSchemaVersion)
      static_cast<void>(guarded(path, [&]() -> Status {
        checkpoint(*database);
        return Done{};
      }));
    return database;
  });
}

Result<DatabasePtr> open_for_reading(const std::string& path) {
  return open_as_reader(path, SQLite::OPEN_READONLY);
}

// The flags are for attached files; the file at `path` is opened with mode=ro.
Result<DatabasePtr> open_for_copying(const std::string& path) {
  return open_as_reader(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
}

namespace {

void write_carelessly(SQLite::Database& database, const std::string& schema) {
  // Defensive mode does not permit turning off the journal of any file of the connection.
  const auto defend = [&database](int on) {
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, on, nullptr);
  };
  defend(0);
  set_pragma(database, schema + "journal_mode", "OFF", "off");
  defend(1);
  set_pragma(database, schema + "synchronous", "OFF", "0");
  set_pragma(database, schema + "cache_size", "-8000", "-8000");
}

}  // namespace

void make_empty(const std::string& path) {
  const auto database = open_unchecked(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  set_layout(*database);
  migrate(*database, 0);
}

void attach_copy(SQLite::Database& database, const std::string& path) {
  Statement(database, "ATTACH ? AS copy").run(file_uri(path, ""));
  write_carelessly(database, "copy.");
}

void disable_durability(SQLite::Database& copy) {
  write_carelessly(copy, "");
}

void make_single_file(SQLite::Database& database) {
  set_pragma(database, "journal_mode", "DELETE", "delete");
}

void stamp(SQLite::Database& database, std::int32_t version) {
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, version));
}

std::int32_t schema_version(SQLite::Database& database) {
  return static_cast<std::int32_t>(number(database, "PRAGMA user_version"));
}

std::string sqlite_version() {
  return sqlite3_libversion();
}

std::int64_t sqlite_memory_bytes() {
  return sqlite3_memory_used();
}

}  // namespace memoir
