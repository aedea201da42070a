#include "query/args/database_path.h"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
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

// Follows the XDG base directory specification: an unset, empty or relative XDG_DATA_HOME counts as ~/.local/share.
std::string user_database() {
  const std::string data = environment("XDG_DATA_HOME");
  if (!data.empty() && data.front() == '/') return data + "/memoir/memoir.db";
  const std::string home = environment("HOME");
  return home.empty() ? std::string() : home + "/.local/share/memoir/memoir.db";
}

enum class Found { absent, denied, special, usable };

// Uses only stat(2) and access(2): opening a FIFO would block until another process writes to it.
Found what_is_at(const std::string& path) {
  struct stat status {};
  if (path.empty()) return Found::absent;
  if (stat(path.c_str(), &status) != 0) return errno == EACCES ? Found::denied : Found::absent;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return Found::special;
  return access(path.c_str(), R_OK) != 0 && errno == EACCES ? Found::denied : Found::usable;
}

Error denied(const std::string& path) {
  return Error{ErrorKind::denied,
               fmt::format("this user may not read '{}': run memoir as root or as its owner, or join its "
                           "group (for the service: usermod -aG memoir USER, then log in again)",
                           to_printable(path))};
}

Result<std::string> named_database(const std::string& path, const char* origin) {
  switch (what_is_at(path)) {
    case Found::usable:
      return path;
    case Found::denied:
      return denied(path);
    case Found::special:
      return Error{ErrorKind::io,
                   fmt::format("'{}' ({}) is not a regular file; name a Memoir database", to_printable(path), origin)};
    case Found::absent:
      break;
  }
  return Error{ErrorKind::not_found,
               fmt::format("there is no file '{}' ({}); to record into it, run memoird --db with this path",
                           to_printable(path), origin)};
}

}  // namespace

Result<std::string> find_database(const std::string& option) {
  if (!option.empty()) return named_database(option, "--db");
  if (const std::string path = environment("MEMOIR_DB"); !path.empty()) return named_database(path, "$MEMOIR_DB");
  std::vector<std::string> looked;
  std::vector<std::string> closed;
  for (const std::string& path : {std::string(kSystemDatabase), user_database()}) {
    const Found found = what_is_at(path);
    if (found == Found::usable) return path;
    if (found == Found::denied) closed.push_back(path);
    if (!path.empty()) looked.push_back(to_printable(path));
  }
  if (!closed.empty()) return denied(closed.front());
  return Error{ErrorKind::not_found,
               fmt::format("there is no database yet ({}); start memoird, or name a file with --db or $MEMOIR_DB",
                           fmt::join(looked, ", "))};
}

}  // namespace memoir::query
