#include "collect/mappings/co_mappers.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

// Returns whether equal names of this kind mean the same object.
bool names_object(MappingKind kind) {
  return kind == MappingKind::file || kind == MappingKind::tmpfs || kind == MappingKind::memfd ||
         kind == MappingKind::sysv;
}

}  // namespace

std::vector<ProcessKey> CoMappers::add(const ProcessKey& process, const MappingSummary& summary) {
  std::vector<Share> shares;
  for (const auto& [name, use] : summary.rows) {
    const bool is_large = use.memory.or_zero(ProcessField::rss) >= kMinPssKib;
    if (is_large && names_object(name.kind)) shares.push_back({MappingNameHash{}(name), use.pss_kib()});
  }
  const auto [known, is_new] = shares_.insert_or_assign(process, std::move(shares));
  return is_new ? others_of(known->second, &process) : std::vector<ProcessKey>();
}

std::vector<ProcessKey> CoMappers::remove_exited(const std::vector<ProcessKey>& alive) {
  std::vector<Share> released;
  std::erase_if(shares_, [&](const auto& of) {
    if (std::ranges::binary_search(alive, of.first)) return false;
    released.insert(released.end(), of.second.begin(), of.second.end());
    return true;
  });
  return others_of(released);
}

std::vector<ProcessKey> CoMappers::others_of(const std::vector<Share>& shares, const ProcessKey* but) const {
  std::vector<ProcessKey> others;
  for (const auto& [process, mapped] : shares_) {
    if (but != nullptr && process == *but) continue;
    const bool shares_any = std::ranges::any_of(mapped, [&](const Share& own) {
      return std::ranges::any_of(
          shares, [&](const Share& share) { return share.object == own.object && share.pss_kib >= kMinPssKib; });
    });
    if (shares_any) others.push_back(process);
  }
  return others;
}

}  // namespace memoir
