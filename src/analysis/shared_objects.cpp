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
};

}  // namespace

SharedObjects fold_objects(std::span<const ProcessLedger> ledgers) {
  SharedObjects result;
  std::unordered_map<MappingName, Mapped, MappingNameHash, std::equal_to<>> mapped;
  for (const ProcessLedger& of : ledgers) {
    for (const auto& [name, use] : of.ledger.rows) {
      Mapped& object = mapped[name];
      object.use.add(use);
      object.consumers.push_back({of.process, use.regions, use.pss_kib()});
    }
    for (std::size_t kind = 0; kind < kMappingKinds; ++kind) result.others[kind].add(of.ledger.others[kind]);
  }
  result.objects.reserve(mapped.size());
  for (auto& [name, object] : mapped) {
    std::ranges::sort(object.consumers, {}, [](const Consumer& of) { return std::tuple(-of.pss_kib, of.process); });
    result.objects.push_back({{name, object.use}, std::move(object.consumers)});
  }
  std::ranges::sort(result.objects, [](const auto& a, const auto& b) { return ranks_before(a.row, b.row); });
  return result;
}

}  // namespace memoir
