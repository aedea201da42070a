#include "base/own_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace memoir {
namespace {

constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;

Error planted(const std::string& path, const std::string& what) {
  return Error{ErrorKind::denied, fmt::format("{} {}, and is not used; remove it, or name another file", path, what)};
}

Status check(const std::string& path, const struct stat& found) {
  if (S_ISLNK(found.st_mode)) return planted(path, "is a symbolic link");
  if (!S_ISREG(found.st_mode)) return planted(path, "is not a regular file");
  if (found.st_uid != geteuid() && found.st_uid != 0)
    return planted(path, fmt::format("belongs to another user (uid {})", found.st_uid));
  // Another user may have given a second name to one of our files.
  if (found.st_nlink > 1) return planted(path, "has several names (hard links)");
  return Done{};
}

}  // namespace

Result<Fd> open_own_file(const std::string& path, mode_t mode) {
  Fd made(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, mode));
  if (made) return made;
  if (errno != EEXIST) return errno_error(errno, "create", path);
  // The file is checked before opening, for a precise message, and again afterwards, because it may have been
  // replaced.
  TRY(check_own_file(path));
  Fd found(::open(path.c_str(), kFlags));
  struct stat status {};
  if (!found || ::fstat(found.get(), &status) != 0) return errno_error(errno, "open", path);
  TRY(check(path, status));
  return found;
}

Status check_own_file(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) return check(path, found);
  if (errno == ENOENT) return Done{};
  return errno_error(errno, "inspect", path);
}

Result<std::string_view> read_named_file(const std::string& path, Buffer& buffer, std::size_t cap) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) return errno_error(errno, "open", path);
  return read_all(fd, buffer, path, cap);
}

Status check_regular(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return Done{};
  return Error{ErrorKind::denied, fmt::format("{} is {}; name a file with --db", path,
                                              S_ISDIR(found.st_mode) ? "a directory" : "not a regular file")};
}

}  // namespace memoir
