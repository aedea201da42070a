#pragma once

// Walks a tmpfs: sums for each directory, and the largest directories and files. It stays within the file system and
// never touches what is mounted on it, which may block; links are not followed. Who fills a tmpfs is not trusted: the
// walk is bounded in entries, depth and time, and what changes meanwhile is passed over.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/tmpfs.h"
#include "proc/mountinfo.h"

namespace memoir {

struct WalkLimits {
  std::int64_t entries = 100'000;
  std::chrono::milliseconds time{100};  // of CPU, and on the clock
  std::size_t depth = 40;               // each level keeps a descriptor open
  std::size_t directories = 16;         // kept of the largest, and so many files;
  std::size_t files = 16;
  std::int64_t least_kib = 64;   // that they must have,
  std::size_t path_bytes = 256;  // and no longer a path: what is beyond counts in its directory
};

struct TmpfsTree {
  TmpfsWalk walk = TmpfsWalk::not_read;
  TmpfsContent content = {};
  std::vector<TmpfsEntry> largest = {};  // as of a TmpfsSample; paths are UTF-8
  std::int64_t cpu_us = 0;               // what it took
  std::string problem = {};              // why it is not whole; empty if it is
};

TmpfsTree walk_tmpfs(const TmpfsMount& mount, const WalkLimits& limits);

}  // namespace memoir
