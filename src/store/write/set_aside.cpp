#include "store/write/set_aside.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/file.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

// The -wal first: if we are killed in between, the file is found without it, and not the -wal with another file, which
// SQLite would take for one of that.
constexpr std::array kSuffixes{"-wal", "-shm", ""};

bool is_free(const std::string& name) {
  std::error_code error;
  for (const char* suffix : kSuffixes) {
    if (fs::exists(fs::symlink_status(name + suffix, error))) return false;
  }
  return true;
}

std::string free_name(const std::string& path, std::int64_t wall_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(wall_ms)};
  const std::string name =
      fmt::format("{}.damaged-{:%Y%m%d-%H%M%S}", path, std::chrono::floor<std::chrono::seconds>(time));
  std::string free = name;
  for (int number = 2; !is_free(free); ++number) free = fmt::format("{}-{}", name, number);
  return free;
}

}  // namespace

Result<std::string> set_aside(const std::string& path, std::int64_t wall_ms) {
  const std::string name = free_name(path, wall_ms);
  for (const char* suffix : kSuffixes) {
    if (std::rename((path + suffix).c_str(), (name + suffix).c_str()) != 0 && errno != ENOENT)
      return errno_error(errno, "set aside the damaged", path + suffix);
  }
  return name;
}

}  // namespace memoir
