#include "store/sqlite/wal_locks.h"

#include <fcntl.h>

namespace memoir {
namespace {

constexpr std::int64_t kWriteByte = 120;
constexpr std::int64_t kCheckpointByte = 121;
constexpr std::int64_t kEnd = 128;

}  // namespace

struct WalLocks::Found {
  std::int32_t pid = 0;
  bool reads = false;
};

std::optional<WalLocks::Found> WalLocks::find(std::int64_t first, std::int64_t count) {
  if (!shm_) shm_ = Fd(::open((path_ + "-shm").c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  if (!shm_ || ::fcntl(shm_.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return Found{lock.l_pid, lock.l_type == F_RDLCK};
}

std::optional<std::int32_t> WalLocks::writer_held_by() {
  auto found = find(kWriteByte, 1);
  // Opening it after a crash needs them all.
  if (!found) found = find(kWriteByte, kEnd - kWriteByte);
  return found ? std::optional(found->pid) : std::nullopt;
}

// SQLite itself never shares this byte.
std::optional<std::int32_t> WalLocks::reader_sees_writer_held_by() {
  const auto found = find(kWriteByte, 1);
  return found && found->reads ? std::optional(found->pid) : std::nullopt;
}

std::optional<std::int32_t> WalLocks::wal_held_by() {
  const auto found = find(kCheckpointByte, kEnd - kCheckpointByte);
  return found ? std::optional(found->pid) : std::nullopt;
}

}  // namespace memoir
