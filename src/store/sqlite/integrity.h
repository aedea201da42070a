#pragma once

// Whether a database is whole.

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Looks through the whole file for damage, or through one table; what is wrong, or nothing.
std::string quick_check(SQLite::Database& database, const std::string& table = "");

// The same, for no longer than that.
struct CheckResult {
  std::string damage;  // empty: none was found
  bool finished = true;
};
CheckResult quick_check(SQLite::Database& database, std::chrono::milliseconds within);

// The same for a reader of the file at `path`. Told how far it has come, in percent; false stops it, which is an error.
Result<std::string> check_file(const std::string& path, const std::function<bool(int)>& progress);

}  // namespace memoir
