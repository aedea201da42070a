#pragma once

// The contents of a tmpfs: its usage, and its largest directories and files. Sizes are KiB.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memoir {

struct TmpfsEntry {
  std::string path;        // path below the mount point; empty: the mount point itself
  bool directory = false;  // a directory, with the totals of everything below it
  std::int64_t allocated_kib = 0;
  std::int64_t logical_kib = 0;  // st_size of all entries
  std::int64_t entries = 1;
  std::uint32_t uid = 0;        // user that owns the entry
  std::int64_t changed_ms = 0;  // last modification; for a directory the latest below it

  bool operator==(const TmpfsEntry&) const = default;
};

// The numbers are stored; 3 in the file means no longer mounted.
enum class TmpfsWalk : std::uint8_t {
  whole = 0,
  cut = 1,       // partial result: too many entries, too slow, too deep, or unreadable folders
  not_read = 2,  // unreadable, hidden, or not answering
  not_yet = 4,   // no walk was made yet, or walks are disabled
};

// Result of a walk. A file with several names counts once; file systems mounted on it are excluded.
struct TmpfsContent {
  std::int64_t entries = 0;  // number of entries of all kinds
  std::int64_t directories = 0;
  std::int64_t symlinks = 0;
  std::int64_t sockets = 0;
  std::int64_t fifos = 0;
  std::int64_t devices = 0;  // block and character devices
  std::int64_t closed = 0;   // unreadable directories
  std::int64_t allocated_kib = 0;
  std::int64_t logical_kib = 0;

  bool operator==(const TmpfsContent&) const = default;
};

struct TmpfsSample {
  std::string mount_point;  // shortest reachable mount point of its file system
  std::string source;       // device as given to mount(8): "tmpfs", "run"; empty: unknown
  TmpfsWalk walk = TmpfsWalk::not_yet;
  std::optional<std::int64_t> limit_kib;  // nullopt: no limit, or unknown
  std::optional<std::int64_t> used_kib;   // usage from statfs(2)
  std::optional<std::int64_t> inodes;     // inodes in use
  std::optional<std::int64_t> walked_ms;  // wall time of the walk behind the following fields; nullopt: never walked
  TmpfsContent content;
  std::vector<TmpfsEntry> largest;  // sorted by path, then files first

  bool operator==(const TmpfsSample&) const = default;
};

}  // namespace memoir
