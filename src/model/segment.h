#pragma once

// A System V shared memory segment (shmget(2)), as /proc/sysvipc/shm shows those of the recorder's IPC namespace. Its
// memory lives until it is removed and nobody is attached any more, whether or not a process is.

#include <cstdint>
#include <optional>

namespace memoir {

struct SysvSegment {
  std::int64_t shmid = 0;  // of the living ones unique; a number comes again after very many
  std::int64_t key = 0;    // 0: IPC_PRIVATE
  std::int32_t creator_pid = 0;
  std::uint32_t uid = 0;  // of the owner
  std::uint32_t creator_uid = 0;
  std::int64_t size_kib = 0;
  std::int64_t attachments = 0;
  std::int32_t last_pid = 0;  // of the last shmat or shmdt
  bool removed = false;       // SHM_DEST: it goes with the last who is attached
  std::int64_t rss_kib = 0;
  std::int64_t swap_kib = 0;
  std::optional<std::int64_t> detached_ms = {};  // when somebody let go of it last

  bool operator==(const SysvSegment&) const = default;
};

}  // namespace memoir
