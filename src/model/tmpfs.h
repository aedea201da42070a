#pragma once

// What lies in a tmpfs: how full it is, and the largest of its directories and files. Sizes are KiB.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memoir {

struct TmpfsEntry {
  std::string path;        // below the mount point; empty: the mount point itself
  bool directory = false;  // its numbers are of all below it
  std::int64_t allocated_kib = 0;
  std::int64_t logical_kib = 0;  // lengths of the files
  std::int64_t entries = 1;
  std::uint32_t uid = 0;        // of the owner
  std::int64_t changed_ms = 0;  // when it was written to last; of a directory the latest below it

  bool operator==(const TmpfsEntry&) const = default;
};

// The numbers are the store's; there 3 is one that is not mounted any more.
enum class TmpfsWalk : std::uint8_t {
  whole = 0,
  cut = 1,       // too many entries, too slow or too deep, or some folders may not be entered: what was found
  not_read = 2,  // it may not be entered, is hidden, or does not answer
  not_yet = 4,   // it has not had its turn, or nothing is walked
};

// What a walk found. A file of several names counts once; what is mounted on it does not.
struct TmpfsContent {
  std::int64_t entries = 0;  // of all kinds
  std::int64_t directories = 0;
  std::int64_t symlinks = 0;
  std::int64_t others = 0;  // pipes, sockets, devices
  std::int64_t closed = 0;  // directories that may not be entered
  std::int64_t allocated_kib = 0;
  std::int64_t logical_kib = 0;

  bool operator==(const TmpfsContent&) const = default;
};

struct TmpfsSample {
  std::string mount_point;  // the shortest of its file system that can be reached
  TmpfsWalk walk = TmpfsWalk::not_yet;
  std::optional<std::int64_t> limit_kib;  // absent: none, or not known
  std::optional<std::int64_t> used_kib;   // statfs(2)
  std::optional<std::int64_t> inodes;     // in use
  std::optional<std::int64_t> walked_ms;  // wall time of the walk that the rest is of; absent: there was none
  TmpfsContent content;
  std::vector<TmpfsEntry> largest;  // sorted by path, then files first

  bool operator==(const TmpfsSample&) const = default;
};

}  // namespace memoir
