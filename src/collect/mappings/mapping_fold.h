#pragma once

// Computes a process's mapping summary from the regions of its smaps. Pure.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/mapping.h"
#include "proc/mountinfo.h"
#include "proc/smaps.h"

namespace memoir {

// Returns the kind of a region, with its path as the label. `tmpfs`: see parse_tmpfs_mounts(). A tmpfs is recognised by
// its device instead of its path: another file system may be mounted below it, and the process may have its own mounts.
MappingNameView mapping_name(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs);

// Sums regions by kind and label. Memory is limited: at most 2 × `max_rows` labels of PATH_MAX bytes.
class MappingFold {
 public:
  // `tmpfs` must outlive the fold.
  MappingFold(std::span<const TmpfsMount> tmpfs, std::size_t max_rows) : tmpfs_(tmpfs), max_rows_(max_rows) {}

  // Adds a region. `object_kib`: see MappingUse; 0 for a further region of the same object.
  void add(const SmapsRegion& region, std::optional<std::int64_t> object_kib = {});

  // Returns the summary with the `max_rows` largest rows by memory and swap, and empties the fold. If there are more
  // than twice as many labels, some regions of a label may be counted in the others of its kind.
  MappingSummary take();

 private:
  using Rows = std::unordered_map<MappingName, MappingUse, MappingNameHash, std::equal_to<>>;

  std::vector<MappingRow> take_rows();

  const std::span<const TmpfsMount> tmpfs_;
  const std::size_t max_rows_;
  Rows rows_;
  std::array<MappingUse, kMappingKinds> others_;
};

// Adds rows with a negligible part of the process's memory to the others of their kind, if a kind has several. A
// process maps dozens of libraries, and each would need a new row whenever another process that maps it starts or
// exits.
void fold_small(MappingSummary& summary);

}  // namespace memoir
