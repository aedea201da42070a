#pragma once

// Walks a tmpfs: sums for each directory, and the largest directories and files. Stays within the file system and never
// touches mounts below it, which may block; follows no links. Users that fill a tmpfs are not trusted: the walk is
// limited in entries, depth and time, and entries that change during the walk are skipped.

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
  std::size_t directories = 16;         // number of kept directories, and of files;
  std::size_t files = 16;
  std::int64_t min_kib = 64;     // minimum size of a kept entry
  std::size_t path_bytes = 256;  // maximum path length: longer ones count in their directory
};

struct TmpfsTree {
  TmpfsWalk walk = TmpfsWalk::not_read;
  TmpfsContent content = {};
  std::vector<TmpfsEntry> largest = {};  // as in TmpfsSample; paths are UTF-8
  std::int64_t cpu_us = 0;               // of the walk
  std::string problem = {};              // why it is partial; empty if complete
};

TmpfsTree walk_tmpfs(const TmpfsMount& mount, const WalkLimits& limits);

}  // namespace memoir
