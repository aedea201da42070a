#include "collect/mappings/mapping_fold.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace memoir {
namespace {

bool on_tmpfs(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs) {
  const auto device = [](const TmpfsMount& mount) { return std::pair(mount.major, mount.minor); };
  return std::ranges::binary_search(tmpfs, std::pair(region.major, region.minor), {}, device);
}

// Returns the kind of a name in brackets: "[heap]", "[stack:1234]", "[anon:name]".
MappingKind pseudo_kind(std::string_view path) {
  if (path == "[heap]") return MappingKind::heap;
  if (path == "[stack]" || path.starts_with("[stack:")) return MappingKind::stack;
  if (path.starts_with("[anon:")) return MappingKind::anonymous;
  if (path.starts_with("[anon_shmem:")) return MappingKind::shared_anonymous;
  if (path == "[vdso]") return MappingKind::vdso;
  if (path == "[vvar]" || path == "[vvar_vclock]") return MappingKind::vvar;  // vvar_vclock since Linux 6.13
  if (path == "[vsyscall]") return MappingKind::vsyscall;
  return MappingKind::other;
}

// Returns the kind of a path. The kernel has special names for memory without a file, which are not paths of any mount.
MappingKind path_kind(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs) {
  const std::string_view path = region.path;
  if (path.starts_with("/memfd:")) return MappingKind::memfd;
  if (path.starts_with("/SYSV")) return MappingKind::sysv;
  if (path == "/dev/zero (deleted)") return MappingKind::shared_anonymous;  // a shared anonymous mapping without a name
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

MappingUse use_of(const SmapsRegion& region, std::optional<std::int64_t> object_kib) {
  MappingUse use{.regions = 1, .size_kib = static_cast<std::int64_t>((region.end - region.start) / 1024)};
  if (region.shared()) {
    use.shared_regions = 1;
    use.shared_swap_kib = region.memory.or_zero(ProcessField::swap);
  }
  use.object_kib = object_kib;
  use.memory = region.memory;
  return use;
}

// Returns memory plus swap. The smallest rows lose their names, and an object must not lose its name only because it is
// swapped out.
std::int64_t held_kib(const MappingRow& row) {
  return row.use.pss_kib() + std::max(row.use.memory.or_zero(ProcessField::swap_pss), row.use.shared_swap_kib);
}

bool holds_more(const MappingRow& a, const MappingRow& b) {
  return held_kib(a) != held_kib(b) ? held_kib(a) > held_kib(b) : ranks_before(a, b);
}

// Makes the labels valid UTF-8. Rows whose labels become equal are merged.
std::vector<MappingRow> with_valid_labels(std::vector<MappingRow> rows) {
  for (MappingRow& row : rows) row.name.label = to_utf8(row.name.label);
  return merged(std::move(rows));
}

}  // namespace

MappingNameView mapping_name(const SmapsRegion& region, std::span<const TmpfsMount> tmpfs) {
  return {kind_of(region, tmpfs), region.path};
}

void MappingFold::add(const SmapsRegion& region, std::optional<std::int64_t> object_kib) {
  const MappingNameView name = mapping_name(region, tmpfs_);
  auto row = rows_.find(name);
  const bool known = row != rows_.end();
  if (!known) row = rows_.try_emplace(MappingName{name.kind, std::string(name.label)}).first;
  row->second.add(use_of(region, object_kib));
  if (known || rows_.size() <= 2 * max_rows_) return;
  std::vector<MappingRow> largest = take_rows();
  for (MappingRow& kept : largest) rows_.emplace(std::move(kept.name), kept.use);
}

// Returns the largest rows and empties `rows_`. The smaller rows are added to the others of their kind.
std::vector<MappingRow> MappingFold::take_rows() {
  std::vector<MappingRow> rows;
  rows.reserve(rows_.size());
  while (!rows_.empty()) {
    auto row = rows_.extract(rows_.begin());
    rows.push_back({std::move(row.key()), row.mapped()});
  }
  std::ranges::sort(rows, holds_more);
  const std::size_t kept = std::min(max_rows_, rows.size());
  for (const MappingRow& row : std::span(rows).subspan(kept)) {
    others_[static_cast<std::size_t>(row.name.kind)].add(row.use);
  }
  rows.resize(kept);
  return rows;
}

MappingSummary MappingFold::take() {
  MappingSummary summary{with_valid_labels(take_rows()), std::exchange(others_, {})};
  std::ranges::sort(summary.rows, ranks_before);
  return summary;
}

void fold_small(MappingSummary& summary) {
  constexpr std::int64_t share = 128;
  const auto held = [](const MappingUse& use) {
    return use.memory.or_zero(ProcessField::rss) + use.memory.or_zero(ProcessField::swap);
  };
  std::int64_t all_kib = 0;
  for (const MappingRow& row : summary.rows) all_kib += held(row.use);
  for (const MappingUse& others : summary.others) all_kib += held(others);
  const auto small = [&](const MappingRow& row) { return held(row.use) < all_kib / share; };
  std::array<int, kMappingKinds> count{};
  for (const MappingRow& row : summary.rows) count.at(static_cast<std::size_t>(row.name.kind)) += small(row) ? 1 : 0;
  std::erase_if(summary.rows, [&](const MappingRow& row) {
    const auto kind = static_cast<std::size_t>(row.name.kind);
    const bool folded = small(row) && (count.at(kind) > 1 || summary.others.at(kind).regions > 0);
    if (folded) summary.others.at(kind).add(row.use);
    return folded;
  });
}

}  // namespace memoir
