#include "query/database_path.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <vector>

#include "base/text.h"

namespace memoir::query {
namespace {

constexpr const char* kSystemDatabase = "/var/lib/memoir/memoir.db";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The XDG base directory specification: an unset, empty or relative XDG_DATA_HOME counts as ~/.local/share.
std::string user_database() {
  const std::string data = environment("XDG_DATA_HOME");
  if (!data.empty() && data.front() == '/') return data + "/memoir/memoir.db";
  const std::string home = environment("HOME");
  return home.empty() ? std::string() : home + "/.local/share/memoir/memoir.db";
}

bool exists(const std::string& path) {
  return !path.empty() && access(path.c_str(), F_OK) == 0;
}

}  // namespace

Result<std::string> find_database(const std::string& option) {
  for (const auto& [path, origin] : {std::pair(option, "--db"), std::pair(environment("MEMOIR_DB"), "$MEMOIR_DB")}) {
    if (path.empty()) continue;
    if (exists(path)) return path;
    return Error{ErrorKind::gone, fmt::format("there is no file '{}' ({}); memoird --db F records into it",
                                              to_printable(to_utf8(path)), origin)};
  }
  std::vector<std::string> looked;
  for (const std::string& path : {std::string(kSystemDatabase), user_database()}) {
    if (exists(path)) return path;
    if (!path.empty()) looked.push_back(path);
  }
  return Error{
      ErrorKind::gone,
      fmt::format("there is no database yet: neither {}; start memoird, or name a file with --db or $MEMOIR_DB",
                  fmt::join(looked, " nor "))};
}

}  // namespace memoir::query
