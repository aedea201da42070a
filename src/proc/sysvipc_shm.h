#pragma once

// /proc/sysvipc/shm: a header with the columns' names, then one line per System V shared memory segment. rss and swap
// (bytes; since Linux 2.6.34) are its usage, with or without an attached process.
//
//          key      shmid perms       size  cpid  lpid nattch … rss   swap
//   1627455491          0   600   56033280  1412  1412      6 … 49152    0

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/odd_lines.h"
#include "model/segment.h"

namespace memoir {

struct SysvTable {
  std::optional<std::int64_t> held_kib;  // rss and swap of all segments; 0 without any; nullopt if one is odd
  std::vector<SysvSegment> segments;     // sorted by shmid; empty if the table lacks an identifying column
};

// Parses the table. A table without the columns rss and swap is malformed. Odd rows are skipped. `odd`: see
// key_lines.h.
Result<SysvTable> parse_sysvipc_shm(std::string_view text, OddLines* odd = nullptr);

}  // namespace memoir
