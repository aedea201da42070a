#include "store/lock_file.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "base/text.h"

namespace memoir {
namespace {

std::string lock_path(const std::string& path) {
  return path + ".lock";
}

std::int32_t read_pid(const Fd& fd) {
  char text[16];
  const ssize_t length = pread(fd.get(), text, sizeof text, 0);
  if (length <= 0) return 0;
  return parse_int<std::int32_t>(trim({text, static_cast<std::size_t>(length)})).value_or(0);
}

bool try_lock(const Fd& fd, int kind) {
  int done = 0;
  do {
    done = flock(fd.get(), kind | LOCK_NB);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

// A reader that asks who holds the lock has it for a moment: that is no reason to refuse to start.
bool lock_patiently(const Fd& fd) {
  constexpr int tries = 5;
  for (int attempt = 1; !try_lock(fd, LOCK_EX); ++attempt) {
    if (attempt == tries) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace

Result<Fd> take_lock(const std::string& path) {
  const std::string name = lock_path(path);
  Fd fd(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640));
  if (!fd) return errno_error(errno, "open the lock file", name);
  if (!lock_patiently(fd)) {
    return Error{
        ErrorKind::blocked,
        fmt::format("{}: another recorder, process {}, writes to it; stop that, or name another file with --db", path,
                    read_pid(fd))};
  }
  // It is the lock that counts: on a full disk the name of its owner is missing, or an earlier one's stays.
  const std::string pid = fmt::format("{}\n", getpid());
  if (pwrite(fd.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size()))
    static_cast<void>(ftruncate(fd.get(), static_cast<off_t>(pid.size())));
  return fd;
}

bool lock_is_visible(const std::string& path) {
  return access(lock_path(path).c_str(), R_OK) == 0;
}

std::optional<std::int32_t> lock_owner(const std::string& path) {
  const Fd fd(open(lock_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd || try_lock(fd, LOCK_SH)) return std::nullopt;
  return read_pid(fd);
}

}  // namespace memoir
