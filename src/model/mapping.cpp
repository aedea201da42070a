#include "model/mapping.h"

#include <algorithm>
#include <tuple>

namespace memoir {

namespace {

constexpr std::array<std::string_view, kMappingKinds> kKindNames{"file", "anonymous", "heap",     "stack",
                                                                 "vdso", "vvar",      "vsyscall", "shared-anonymous",
                                                                 "sysv", "memfd",     "tmpfs",    "other"};

}  // namespace

std::string_view to_string(MappingKind kind) {
  return kKindNames.at(static_cast<std::size_t>(kind));
}

std::optional<MappingKind> parse_mapping_kind(std::string_view word) {
  const auto found = std::ranges::find(kKindNames, word);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<MappingKind>(found - kKindNames.begin());
}

std::string_view to_string(MappingState state) {
  constexpr std::array<std::string_view, 5> names{"exact", "deferred", "inaccessible", "dropped", "unknown"};
  return names.at(std::min(static_cast<std::size_t>(state), names.size() - 1));
}

void MappingUse::add(const MappingUse& other) {
  for (std::size_t i = 0; i < kRollupFields && other.regions > 0; ++i) {
    const auto field = static_cast<ProcessField>(i);
    const bool known = other.memory.has(field) && (regions == 0 || memory.has(field));
    if (known) memory.add(field, other.memory);
    if (!known) memory.clear(field);
  }
  if (other.regions > 0) {
    const bool known = other.object_kib && (regions == 0 || object_kib);
    object_kib = known ? std::optional(object_kib.value_or(0) + *other.object_kib) : std::nullopt;
  }
  regions += other.regions;
  size_kib += other.size_kib;
  shared_regions += other.shared_regions;
  shared_swap_kib += other.shared_swap_kib;
}

std::vector<MappingRow> merged(std::vector<MappingRow> rows) {
  std::vector<MappingRow> sums;
  sums.reserve(rows.size());
  for (MappingRow& row : rows) {
    const auto same = std::ranges::find(sums, row.name, &MappingRow::name);
    if (same == sums.end()) {
      sums.push_back(std::move(row));
    } else {
      same->use.add(row.use);
    }
  }
  return sums;
}

bool ranks_before(const MappingRow& a, const MappingRow& b) {
  const auto rank = [](const MappingRow& row) {
    return std::tuple(-row.use.pss_kib(), row.name.kind, std::string_view(row.name.label));
  };
  return rank(a) < rank(b);
}

}  // namespace memoir
