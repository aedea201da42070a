#pragma once

// Memory that belongs to no single process: mappings of deleted files and of memfds, System V segments, and files in
// tmpfs. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/shared_objects.h"
#include "model/mapping.h"
#include "model/segment.h"
#include "model/tmpfs.h"

namespace memoir {

// State of an object when it was first observed.
struct FirstSeen {
  std::int64_t at_ms = 0;
  std::int64_t kib = 0;
  bool maybe_older = false;  // it may have existed before

  bool operator==(const FirstSeen&) const = default;
};

struct SeenSegment {
  SysvSegment segment;
  FirstSeen first;
};

struct SeenFile {
  std::string path;  // full path
  TmpfsEntry entry;
  FirstSeen first;
};

// The numbers are not stored; to_string() gives each a name.
enum class OwnerlessKind : std::uint8_t { deleted_file, memfd, segment, tmpfs_file };

std::string_view to_string(OwnerlessKind kind);

struct OwnerlessMemory {
  OwnerlessKind kind = OwnerlessKind::deleted_file;
  std::string name;                          // path, or shmid of a segment
  std::int64_t kib = 0;                      // includes swap; for mappings, as SharedObject::memory_kib()
  std::vector<Consumer> holders = {};        // known processes that map it, largest first
  std::int64_t mappers = 0;                  // approximate number of processes that map it
  std::optional<std::int32_t> made_by = {};  // creator's pid
  std::optional<std::int32_t> last_used_by = {};
  std::optional<std::uint32_t> uid = {};     // owner
  std::optional<std::int64_t> left_ms = {};  // time of the last detach
  std::optional<FirstSeen> first = {};       // nullopt if unknown
};

// Returns the memory by size, largest first, then by kind and name. A tmpfs file that is mapped appears once, with its
// mappers.
std::vector<OwnerlessMemory> ownerless_memory(std::span<const ProcessMappings> summaries,
                                              std::span<const FirstMapping> firsts,
                                              std::span<const SeenSegment> segments, std::span<const SeenFile> files);

}  // namespace memoir
