#include "store/sqlite/integrity.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <sqlite3.h>

#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/pragma.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/time_limit.h"

namespace memoir {
namespace {

// A check reads each page about once.
constexpr int kProgressSteps = 100'000;

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
  // What it says when it is interrupted is of no worth.
  if (!limit.stop()) return {.damage = {}, .finished = false};
  return {.damage = damage};
}

Result<std::string> check_file(const std::string& path, const std::function<bool(int)>& progress) {
  const auto database = TRY(open_for_reading(path));
  return guarded(path, [&]() -> Result<std::string> {
    sqlite3* const handle = database->getHandle();
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
