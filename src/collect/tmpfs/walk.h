#pragma once

// Walks a tmpfs and sums up each directory; keeps the largest directories and files. The walk stays within the file
// system: it follows no links and never touches mounts below it, which may block. Users who fill a tmpfs are not
// trusted, so the walk is limited in entries, depth and time, and skips entries that change during the walk.

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
  std::chrono::milliseconds time{100};  // maximum CPU time, and maximum time on the clock
  std::size_t depth = 40;               // each level keeps a descriptor open
  std::size_t directories = 16;         // maximum number of kept directories, and of kept files
  std::size_t files = 16;
  std::int64_t min_kib = 64;     // minimum size of a kept entry
  std::size_t path_bytes = 256;  // maximum path length; entries with longer paths are counted only in their directory
};

struct TmpfsTree {
  TmpfsWalk walk = TmpfsWalk::not_read;
  TmpfsContent content = {};
  std::vector<TmpfsEntry> largest = {};  // as in TmpfsSample; paths are UTF-8
  std::int64_t cpu_us = 0;               // CPU time of the walk
  std::string problem = {};              // why the walk is partial; empty if it is complete
};

TmpfsTree walk_tmpfs(const TmpfsMount& mount, const WalkLimits& limits);

}  // namespace memoir
