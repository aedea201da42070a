#include "store/sqlite/wal_locks.h"

#include <fcntl.h>
#include <unistd.h>

namespace memoir {
namespace {

constexpr std::int64_t kWriteByte = 120;
// A process that reads only the main file locks byte 123. A process that also reads the -wal locks one of the bytes
// after it, and keeps the -wal from restarting.
constexpr std::int64_t kFirstWalReader = 124;
constexpr std::int64_t kEnd = 128;
constexpr std::int64_t kFramesAt = 16;  // offset of the number of frames in the header of the -shm (2.1)

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

std::optional<std::int32_t> WalLocks::writer_blocker() {
  auto found = find(kWriteByte, 1);
  if (!found) found = find(kFirstWalReader, kEnd - kFirstWalReader);
  // The first connection after a crash needs locks on all of these bytes.
  if (!found) found = find(kWriteByte, kEnd - kWriteByte);
  return found ? std::optional(found->pid) : std::nullopt;
}

std::optional<std::int32_t> WalLocks::reader_sees_writer_held_by(std::int32_t recorder, std::int64_t max_frames) {
  // SQLite itself never takes a read lock on this byte.
  auto found = find(kWriteByte, 1);
  if (found && found->reads) return found->pid;
  std::uint32_t frames = 0;
  if (!shm_ || ::pread(shm_.get(), &frames, sizeof frames, kFramesAt) != sizeof frames || frames < max_frames)
    return std::nullopt;
  found = find(kFirstWalReader, kEnd - kFirstWalReader);
  return found && found->pid != recorder ? std::optional(found->pid) : std::nullopt;
}

}  // namespace memoir
