#include "store/sqlite/integrity.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <sqlite3.h>
#include <string_view>

#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/pragma.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/time_limit.h"
#include "store/sqlite/wal_file.h"

namespace memoir {
namespace {

// SQLite's steps between two calls of `progress`.
constexpr int kProgressSteps = 100'000;

// Returns whether a check reports pages that it could not read: "unable to get the page. error code=266".
bool is_read_error(std::string_view damage) {
  constexpr std::string_view before = "error code=";
  const std::size_t at = damage.find(before);
  if (at == std::string_view::npos) return damage.find("failed to get page") != std::string_view::npos;
  const char* const digits = damage.data() + at + before.size();
  int code = 0;
  std::from_chars(digits, damage.data() + damage.size(), code);
  return (code & 0xff) == SQLITE_IOERR;
}

}  // namespace

std::string quick_check(SQLite::Database& database, const std::string& table) {
  Statement check(database, fmt::format("PRAGMA quick_check({})", table.empty() ? "1" : table));
  const std::string answer = check.step() ? check.text(0) : "no answer";
  return answer == "ok" ? "" : answer;
}

CheckResult quick_check(SQLite::Database& database, std::chrono::milliseconds within) {
  TimeLimit limit(database.getHandle(), within);
  std::string damage;
  try {
    damage = quick_check(database);
  } catch (const SQLite::Exception&) {
    if (limit.stop()) throw;
  }
  // The result of an interrupted check is useless.
  if (!limit.stop()) return {.damage = {}, .finished = false};
  return {.damage = damage};
}

Result<std::string> find_damage(const std::string& path, bool with_wal, std::chrono::milliseconds within) {
  std::string damage = with_wal ? wal_damage_of(path) : "";
  if (!damage.empty()) return damage;
  const auto database = open_for_reading(path);
  if (!database) {
    const ErrorKind kind = database.error().kind;
    if (kind == ErrorKind::damaged || kind == ErrorKind::malformed || kind == ErrorKind::not_found)
      return database.error().message;
    return Error{ErrorKind::io, database.error().message};
  }
  const auto checked = guarded(path, [&]() -> Result<CheckResult> { return quick_check(**database, within); });
  if (!checked && checked.error().kind == ErrorKind::damaged) return checked.error().message;
  if (!checked) return Error{ErrorKind::io, checked.error().message};
  if (is_read_error(checked->damage)) return Error{ErrorKind::io, path + " could not be read; check the disk"};
  return checked->damage;
}

Result<std::string> check_file(const std::string& path, const std::function<bool(int)>& progress) {
  const auto database = TRY(open_for_reading(path));
  return guarded(path, [&]() -> Result<std::string> {
    sqlite3* const handle = database->getHandle();
    // A check reads each page about once, so the number of cache misses shows the progress.
    const std::int64_t pages = std::max<std::int64_t>(number(*database, "PRAGMA page_count"), 1);
    const ProgressWatch watch(handle, kProgressSteps, [&] {
      int read = 0;
      int unused = 0;
      sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &read, &unused, 0);
      return progress(static_cast<int>(std::min<std::int64_t>(99, 100 * std::int64_t{read} / pages)));
    });
    return quick_check(*database);
  });
}

}  // namespace memoir
