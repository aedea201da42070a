#include "analysis/shared_objects.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>

namespace memoir {
namespace {

struct Mapped {
  MappingUse use;
  std::vector<Consumer> consumers;
  std::int64_t largest_kib = 0;
  std::int64_t unswapped_kib = 0;
  std::optional<std::int64_t> object_kib;
};

}  // namespace

std::int64_t SharedObject::mappers() const {
  // The kernel rounds the PSS of each region down, so a small PSS is not used.
  constexpr std::int64_t region_kib = 16;
  const auto known = static_cast<std::int64_t>(consumers.size());
  const std::int64_t pss_kib = row.use.pss_kib();
  if (pss_kib < region_kib * std::max<std::int64_t>(row.use.regions, 1)) return known;
  return std::max(known, (row.use.memory.or_zero(ProcessField::rss) + pss_kib / 2) / pss_kib);
}

SharedObjects fold_objects(std::span<const ProcessMappings> summaries) {
  SharedObjects result;
  std::unordered_map<MappingName, Mapped, MappingNameHash, std::equal_to<>> mapped;
  for (const ProcessMappings& of : summaries) {
    for (const auto& [name, use] : of.summary.rows) {
      Mapped& object = mapped[name];
      object.use.add(use);
      object.consumers.push_back({of.process, use.regions, use.pss_kib()});
      object.largest_kib = std::max(object.largest_kib, use.memory.or_zero(ProcessField::rss));
      object.unswapped_kib = std::max(object.unswapped_kib, use.object_kib.value_or(0) - use.shared_swap_kib);
      object.object_kib = std::max(object.object_kib, use.object_kib);
    }
    for (std::size_t kind = 0; kind < kMappingKinds; ++kind) result.others[kind].add(of.summary.others[kind]);
  }
  result.objects.reserve(mapped.size());
  for (auto& [name, object] : mapped) {
    object.use.object_kib = object.object_kib;
    std::ranges::sort(object.consumers, {}, [](const Consumer& of) { return std::tuple(-of.pss_kib, of.process); });
    result.objects.push_back(
        {{name, object.use}, std::move(object.consumers), object.largest_kib, object.unswapped_kib});
  }
  std::ranges::sort(result.objects, [](const auto& a, const auto& b) { return ranks_before(a.row, b.row); });
  return result;
}

}  // namespace memoir
