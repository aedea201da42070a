#pragma once

// /proc/sysvipc/shm: a header with the columns' names, then one line per System V shared memory segment. rss and swap
// (bytes; since Linux 2.6.34) are what it holds whether or not a process is attached to it.
//
//          key      shmid perms       size  cpid  lpid nattch … rss   swap
//   1627455491          0   600   56033280  1412  1412      6 … 49152    0

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace memoir {

// The sum of rss and swap over all segments, in KiB; 0 without any.
Result<std::int64_t> parse_sysvipc_shm(std::string_view text);

}  // namespace memoir
