#pragma once

// The recorder's own memory: the heap by the allocator's statistics. The parts add up to the total.

#include <cstdint>
#include <optional>

namespace memoir {

struct RecorderMemory {
  std::int64_t data_kib = 0;                 // memory in use
  std::int64_t fragmentation_kib = 0;        // free memory between blocks in use
  std::int64_t idle_kib = 0;                 // free memory at the end of the heap
  std::int64_t prepared_kib = 0;             // mapped memory without pages: never touched, or returned to the kernel
  std::int64_t sqlite_kib = 0;               // SQLite's part of data
  std::optional<std::int64_t> rss_kib = {};  // RSS of the recorder; nullopt if /proc is unreadable

  std::int64_t ready_kib() const { return data_kib + fragmentation_kib + idle_kib; }
  std::int64_t total_kib() const { return ready_kib() + prepared_kib; }

  bool operator==(const RecorderMemory&) const = default;
};

}  // namespace memoir
