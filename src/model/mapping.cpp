#include "model/mapping.h"

#include <tuple>

namespace memoir {

std::string_view to_string(MappingKind kind) {
  constexpr std::array<std::string_view, kMappingKinds> names{"file", "anonymous", "heap",     "stack",
                                                              "vdso", "vvar",      "vsyscall", "shared anonymous",
                                                              "sysv", "memfd",     "tmpfs",    "other"};
  return names.at(static_cast<std::size_t>(kind));
}

void MappingUse::add(const MappingUse& other) {
  regions += other.regions;
  size_kib += other.size_kib;
  shared_regions += other.shared_regions;
  shared_swap_kib += other.shared_swap_kib;
  for (std::size_t i = 0; i < kRollupFields; ++i) memory.add(static_cast<ProcessField>(i), other.memory);
}

bool ranks_before(const MappingRow& a, const MappingRow& b) {
  const auto rank = [](const MappingRow& row) {
    return std::tuple(-row.use.pss_kib(), row.name.kind, std::string_view(row.name.label));
  };
  return rank(a) < rank(b);
}

}  // namespace memoir
