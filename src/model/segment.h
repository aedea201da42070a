#pragma once

// A System V shared memory segment (shmget(2)), from /proc/sysvipc/shm of the recorder's IPC namespace. Its memory
// exists until the segment is removed and no process is attached; it may outlive all processes.

#include <cstdint>
#include <optional>

namespace memoir {

// A pid of 0 and a value of nullopt are unknown.
struct SysvSegment {
  std::int64_t shmid = 0;               // unique among existing segments; reused only after very many others
  std::optional<std::int64_t> key = 0;  // 0: IPC_PRIVATE
  std::int32_t creator_pid = 0;
  std::optional<std::uint32_t> uid = 0;  // user that owns the segment
  std::optional<std::uint32_t> creator_uid = 0;
  std::optional<std::int64_t> size_kib = 0;
  std::optional<std::int64_t> attachments = 0;
  std::int32_t last_pid = 0;            // process that called shmat(2) or shmdt(2) last
  std::optional<bool> removed = false;  // SHM_DEST: freed with the last detach
  std::int64_t rss_kib = 0;
  std::int64_t swap_kib = 0;
  std::optional<std::int64_t> detached_ms = {};  // last detach

  bool operator==(const SysvSegment&) const = default;
};

}  // namespace memoir
