#pragma once

// Checks a database for damage.

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Searches the full file or one table for damage. Returns the problem; empty if there is none.
std::string quick_check(SQLite::Database& database, const std::string& table = "");

// The same, with a time limit.
struct CheckResult {
  std::string damage;  // empty: none was found
  bool finished = true;
};
CheckResult quick_check(SQLite::Database& database, std::chrono::milliseconds within);

// Checks the file at `path` on its own connection, and its -wal if `with_wal` (only for Durability::full). Returns the
// damage; empty if none was found in that time. An error of kind io means that the file is temporarily unreadable.
Result<std::string> find_damage(const std::string& path, bool with_wal, std::chrono::milliseconds within);

// Checks the file at `path` for a reader. Calls `progress` with the percentage; if that returns false, the check stops
// with an error.
Result<std::string> check_file(const std::string& path, const std::function<bool(int)>& progress);

}  // namespace memoir
