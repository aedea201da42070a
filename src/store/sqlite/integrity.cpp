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

struct CheckProgress {
  sqlite3* handle;
  std::int64_t pages;
  const std::function<bool(int)>& tell;
};

int report_progress(void* data) {
  const auto& state = *static_cast<CheckProgress*>(data);
  int read = 0;
  int unused = 0;
  sqlite3_db_status(state.handle, SQLITE_DBSTATUS_CACHE_MISS, &read, &unused, 0);
  const std::int64_t percent = 100 * std::int64_t{read} / std::max<std::int64_t>(state.pages, 1);
  return state.tell(static_cast<int>(std::min<std::int64_t>(99, percent))) ? 0 : 1;
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
  // What it says when it is interrupted is of no worth.
  if (!limit.stop()) return {.damage = {}, .finished = false};
  return {.damage = damage};
}

Result<std::string> check_file(const std::string& path, const std::function<bool(int)>& progress) {
  const auto database = TRY(open_for_reading(path));
  return guarded(path, [&]() -> Result<std::string> {
    CheckProgress state{database->getHandle(), number(*database, "PRAGMA page_count"), progress};
    sqlite3_progress_handler(state.handle, kProgressSteps, report_progress, &state);
    const std::string damage = quick_check(*database);
    sqlite3_progress_handler(state.handle, 0, nullptr, nullptr);
    return damage;
  });
}

}  // namespace memoir
