#include "collect/mappings/ledger.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

bool on_tmpfs(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs) {
  const auto device = [](const TmpfsMount& mount) { return std::pair(mount.major, mount.minor); };
  return std::ranges::binary_search(tmpfs, std::pair(region.major, region.minor), {}, device);
}

// "[heap]", "[stack:1234]", "[anon:name]"
MappingKind pseudo_kind(std::string_view path) {
  if (path == "[heap]") return MappingKind::heap;
  if (path == "[stack]" || path.starts_with("[stack:")) return MappingKind::stack;
  if (path.starts_with("[anon:")) return MappingKind::anonymous;
  if (path.starts_with("[anon_shmem:")) return MappingKind::shared_anonymous;
  if (path == "[vdso]") return MappingKind::vdso;
  if (path == "[vvar]" || path == "[vvar_vclock]") return MappingKind::vvar;  // the latter since Linux 6.13
  if (path == "[vsyscall]") return MappingKind::vsyscall;
  return MappingKind::other;
}

// The kernel gives memory that has no file the name of one of its own: these are no paths of any mount.
MappingKind path_kind(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs) {
  const std::string_view path = region.path;
  if (path.starts_with("/memfd:")) return MappingKind::memfd;
  if (path.starts_with("/SYSV")) return MappingKind::sysv;
  if (path == "/dev/zero (deleted)") return MappingKind::shared_anonymous;  // without a name
  if (path == "/anon_hugepage (deleted)") {
    return region.shared() ? MappingKind::shared_anonymous : MappingKind::anonymous;
  }
  return on_tmpfs(region, tmpfs) ? MappingKind::tmpfs : MappingKind::file;
}

MappingKind kind_of(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs) {
  if (region.path.empty()) return MappingKind::anonymous;
  if (region.path.front() == '/') return path_kind(region, tmpfs);
  return pseudo_kind(region.path);
}

MappingUse use_of(const SmapsRegion& region) {
  MappingUse use;
  use.regions = 1;
  use.size_kib = static_cast<std::int64_t>((region.end - region.start) / 1024);
  use.memory = region.memory;
  if (region.shared()) {
    use.shared_regions = 1;
    use.shared_swap_kib = region.memory.or_zero(ProcessField::swap);
  }
  return use;
}

}  // namespace

MappingNameView mapping_name(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs) {
  return {kind_of(region, tmpfs), region.path};
}

void MappingFold::add(const SmapsRegion& region) {
  const MappingNameView name = mapping_name(region, tmpfs_);
  const auto known = rows_.find(name);
  if (known != rows_.end()) return known->second.add(use_of(region));
  rows_.emplace(MappingName{name.kind, std::string(name.label)}, use_of(region));
  if (rows_.size() > 2 * most_rows_) keep_largest();
}

void MappingFold::keep_largest() {
  std::vector<MappingRow> rows = take_rows();
  for (MappingRow& row : rows) rows_.emplace(std::move(row.name), row.use);
}

// Sorted; what is beyond them goes to the others.
std::vector<MappingRow> MappingFold::take_rows() {
  std::vector<MappingRow> rows;
  rows.reserve(rows_.size());
  while (!rows_.empty()) {
    auto row = rows_.extract(rows_.begin());
    rows.push_back({std::move(row.key()), row.mapped()});
  }
  std::ranges::sort(rows, ranks_before);
  const std::size_t kept = std::min(most_rows_, rows.size());
  for (const MappingRow& row : std::span(rows).subspan(kept)) {
    others_[static_cast<std::size_t>(row.name.kind)].add(row.use);
  }
  rows.resize(kept);
  return rows;
}

MappingLedger MappingFold::take() {
  return {take_rows(), std::exchange(others_, {})};
}

}  // namespace memoir
