#pragma once

// From the regions of a process's smaps to its ledger. Pure.

#include <cstddef>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/mapping.h"
#include "proc/mountinfo.h"
#include "proc/smaps.h"

namespace memoir {

// The kind of a region and its path as its label. `tmpfs`: as parse_tmpfs_mounts() gives them. A tmpfs is known by its
// device, not by its path: another file system may be mounted below it, and the process may have mounts of its own. One
// that only other mount namespaces have is not among ours; its files count as files.
MappingNameView mapping_name(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs);

// Sums regions by kind and label. Bounded: no more than 2 × `most_rows` labels of PATH_MAX bytes are held.
class MappingFold {
 public:
  // `tmpfs` must outlive the fold.
  MappingFold(std::span<const TmpfsMount> tmpfs, std::size_t most_rows) : tmpfs_(tmpfs), most_rows_(most_rows) {}

  void add(const SmapsRegion& region);

  // The ledger of what was added, with the `most_rows` rows that hold most, in memory or swapped out. The fold is empty
  // then. A label whose regions lie far apart among twice as many labels may have lost some of them to the others of
  // its kind.
  MappingLedger take();

 private:
  using Rows = std::unordered_map<MappingName, MappingUse, MappingNameHash, std::equal_to<>>;

  std::vector<MappingRow> take_rows();

  const std::span<const TmpfsMount> tmpfs_;
  const std::size_t most_rows_;
  Rows rows_;
  std::array<MappingUse, kMappingKinds> others_;
};

// Names that hold next to nothing of their process go to the others of their kind, where these are several: a process
// maps dozens of libraries, and each would take a row whenever its PSS moves, as it does with every other mapper.
void fold_small(MappingLedger& ledger);

}  // namespace memoir
