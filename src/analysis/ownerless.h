#pragma once

// Memory that no process has as its own: mappings of deleted files and memfds, System V segments that nobody is
// attached to, files in tmpfs. Pure.

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

// What something was when it was seen first.
struct FirstSeen {
  std::int64_t at_ms = 0;
  std::int64_t kib = 0;
  bool maybe_older = false;  // nothing tells whether it was there before

  bool operator==(const FirstSeen&) const = default;
};

struct SeenSegment {
  SysvSegment segment;
  FirstSeen first;
};

struct SeenFile {
  std::string path;  // whole
  TmpfsEntry entry;
  FirstSeen first;
};

// The numbers go into no file; to_string() has a word for each.
enum class OwnerlessKind : std::uint8_t { deleted_file, memfd, segment, tmpfs_file };

std::string_view to_string(OwnerlessKind kind);

struct OwnerlessMemory {
  OwnerlessKind kind = OwnerlessKind::deleted_file;
  std::string name;                          // the path; of a segment its shmid
  std::int64_t kib = 0;                      // with what is swapped out; of mappings the sum of PSS
  std::vector<Consumer> holders = {};        // who map it, the largest first
  std::optional<std::int32_t> made_by = {};  // a pid
  std::optional<std::int32_t> last_used_by = {};
  std::optional<std::uint32_t> uid = {};     // of its owner
  std::optional<std::int64_t> left_ms = {};  // when the last one let go of it
  std::optional<FirstSeen> first = {};       // absent: not known
};

// The largest first, then by kind and name. A file of a tmpfs that is mapped is told once, with its holders.
std::vector<OwnerlessMemory> ownerless_memory(std::span<const ProcessLedger> ledgers,
                                              std::span<const FirstMapping> firsts,
                                              std::span<const SeenSegment> segments, std::span<const SeenFile> files);

}  // namespace memoir
