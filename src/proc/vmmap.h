#pragma once

// vmmap(1) output of macOS for one process: lines of regions between headers, summaries and a legend, which differ
// between releases.
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

// Parses "1024K", "1.5M", "0K", "16" (bytes) to KiB, rounded, bytes rounded up; "" is 0. nullopt for anything else.
std::optional<std::int64_t> parse_vmmap_size(std::string_view text);

// Views into the line.
struct VmmapRegion {
  std::string_view name;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::int64_t size_kib = 0;
  std::int64_t resident_kib = 0;
  std::optional<std::int64_t> dirty_kib;  // nullopt if the release does not print them
  std::optional<std::int64_t> swapped_kib;
  std::string_view permissions;  // "rw-/rwx": current and maximum
  std::string_view mode;         // of sharing: PRV, COW, SHM, NUL, ALI, ZER, S/A, LPG …
  std::string_view details;
};

// nullopt: the line is not of a region. Error: it looks like one, but could not be parsed.
Result<std::optional<VmmapRegion>> parse_vmmap_line(std::string_view line);

// Sums over the regions of a process.
struct VmmapProcess {
  std::string_view path;  // of its executable, from the header; empty without one
  std::int64_t regions = 0;
  ProcessMemory memory;          // rss, shared_*, private_*, anonymous, swap: if every region has them
  MappingSummary mappings = {};  // by region name; without PSS
};

// Cannot fail: without any region no field of its memory is set. `odd`: see key_lines.h; it gets lines that look like
// regions, but could not be parsed.
VmmapProcess parse_vmmap(std::string_view text, OddLines* odd = nullptr);

}  // namespace memoir
