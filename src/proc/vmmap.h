#pragma once

// What vmmap(1) of macOS prints of one process: lines of regions between headers, summaries and a legend, which differ
// from release to release.
//
//   MALLOC_TINY        7fb0c1c00000-7fb0c1d00000 [ 1024K   156K   156K     0K] rw-/rwx SM=PRV          MallocZone_0x1
//   __DATA             104a5c000-104a60000       [   16K/   12K] rw-/rwx SM=COW  /bin/cat

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/process.h"

namespace memoir {

// "1024K", "1.5M", "0K", "16" (bytes) in KiB, rounded, bytes rounded up; "" is 0. Anything else is nothing.
std::optional<std::int64_t> parse_vmmap_size(std::string_view text);

// Views into the line.
struct VmmapRegion {
  std::string_view name;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::int64_t size_kib = 0;
  std::int64_t resident_kib = 0;
  std::optional<std::int64_t> dirty_kib;  // absent where the release does not print them
  std::optional<std::int64_t> swapped_kib;
  std::string_view permissions;  // "rw-/rwx": those in force and those it may get
  std::string_view mode;         // of sharing: PRV, COW, SHM, NUL, ALI, ZER, S/A, LPG …
  std::string_view details;
};

// Nothing: the line is not of a region. An error: it looks like one, but cannot be understood.
Result<std::optional<VmmapRegion>> parse_vmmap_line(std::string_view line);

// Sums over the regions of a process.
struct VmmapProcess {
  std::string_view path;  // of its executable, as the header has it; empty without one
  std::int64_t regions = 0;
  ProcessMemory memory;        // rss, shared_*, private_*, anonymous, swap: as far as every region tells them
  std::int64_t malformed = 0;  // lines that look like regions, but cannot be understood
  std::optional<Error> first_malformed;
};

// Cannot fail: without any region it holds none.
VmmapProcess parse_vmmap(std::string_view text);

}  // namespace memoir
