#include "store/sqlite/lock_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_file.h"
#include "base/text.h"

namespace memoir {
namespace {

constexpr mode_t kAlone = 0600;
constexpr mode_t kWithGroup = 0640;

std::string pid_path(const std::string& path) {
  return path + ".pid";
}

std::int32_t read_pid(const Fd& fd) {
  char text[16];
  const ssize_t length = pread(fd.get(), text, sizeof text, 0);
  if (length <= 0) return 0;
  return parse_number<std::int32_t>(trim({text, static_cast<std::size_t>(length)})).value_or(0);
}

// Describes a lock of the whole file. It is used for locks of open file descriptions, because a lock of the process
// would be lost as soon as any descriptor of the file is closed.
struct flock whole_file(short kind) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool try_flock(const Fd& fd) {
  int done = 0;
  do {
    done = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

// Creates a new F.pid, and makes it readable for the group once it is locked. The file of an earlier run is not reused:
// another process may hold a read lock on it, which would prevent our lock. Failures are ignored, because the disk may
// be full.
Result<Fd> publish_pid(const std::string& path) {
  const std::string name = pid_path(path);
  TRY(check_own_file(name));
  ::unlink(name.c_str());
  Result<Fd> fd = open_own_file(name, kAlone);
  if (!fd) return fd.error().kind == ErrorKind::denied ? std::move(fd) : Result<Fd>(Fd());
  struct flock lock = whole_file(F_WRLCK);
  const std::string pid = fmt::format("{}\n", getpid());
  [[maybe_unused]] const ssize_t written = ::pwrite(fd->get(), pid.data(), pid.size(), 0);
  if (::fcntl(fd->get(), F_OFD_SETLK, &lock) == 0) static_cast<void>(::fchmod(fd->get(), kWithGroup));
  return fd;
}

}  // namespace

Result<RecorderLock> acquire_lock(const std::string& path) {
  Fd fd = TRY(open_own_file(path + ".lock", kAlone));
  if (!try_flock(fd)) {
    const auto owner = read_lock_state(path).owner;
    return Error{ErrorKind::blocked,
                 fmt::format("another recorder{1} writes to {0}; stop it, or name another file with --db", path,
                             owner.value_or(0) > 0 ? fmt::format(", process {},", *owner) : std::string())};
  }
  // An earlier version created the file with permissions for the group.
  static_cast<void>(::fchmod(fd.get(), kAlone));
  Fd pid = TRY(publish_pid(path));
  return RecorderLock{std::move(fd), std::move(pid)};
}

LockState read_lock_state(const std::string& path) {
  const Fd fd(::open(pid_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK));
  struct flock lock = whole_file(F_RDLCK);
  if (!fd || ::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) return {};
  if (lock.l_type == F_UNLCK) return {.visible = true, .owner = {}};
  return {.visible = true, .owner = read_pid(fd)};
}

}  // namespace memoir
