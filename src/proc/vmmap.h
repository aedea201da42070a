#pragma once

// Parses the output of vmmap(1) of macOS for one process: lines of regions between headers, summaries and a legend. The
// output differs between releases.
//
//   MALLOC_TINY        7fb0c1c00000-7fb0c1d00000 [ 1024K   156K   156K     0K] rw-/rwx SM=PRV          MallocZone_0x1
//   __DATA             104a5c000-104a60000       [   16K/   12K] rw-/rwx SM=COW  /bin/cat

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/mapping.h"
#include "model/odd_lines.h"
#include "model/process.h"

namespace memoir {

// Parses "1024K", "1.5M", "0K" or "16" (bytes) to KiB, rounded; bytes are rounded up. An empty text is 0. nullopt for
// anything else.
std::optional<std::int64_t> parse_vmmap_size(std::string_view text);

// One region; the texts are views into its line.
struct VmmapRegion {
  std::string_view name;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::int64_t size_kib = 0;
  std::int64_t resident_kib = 0;
  std::optional<std::int64_t> dirty_kib;  // nullopt if the release of macOS does not print it
  std::optional<std::int64_t> swapped_kib;
  std::string_view permissions;  // "rw-/rwx": current and maximum
  std::string_view mode;         // mode of sharing: PRV, COW, SHM, NUL, ALI, ZER, S/A, LPG …
  std::string_view details;
};

// Returns nullopt if the line is not a region. Returns an error if it looks like one, but cannot be parsed.
Result<std::optional<VmmapRegion>> parse_vmmap_line(std::string_view line);

// Sums over the regions of a process.
struct VmmapProcess {
  std::string_view path;  // path of its executable, from the header; empty without one
  std::int64_t regions = 0;
  ProcessMemory memory;          // rss, shared_*, private_*, anonymous, swap; absent if a region lacks the value
  MappingSummary mappings = {};  // by region name; without PSS
};

// Cannot fail: without any region, no field of the memory is set. `odd` (key_lines.h) gets lines that look like regions
// but cannot be parsed.
VmmapProcess parse_vmmap(std::string_view text, OddLines* odd = nullptr);

}  // namespace memoir
