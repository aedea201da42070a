#include "collect/pss/mapper_changes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace memoir {
namespace {

// Changes are kept for this time, because older readings are not used (pss/read_selection.h).
constexpr std::int64_t kChangesKeptMs = 2 * 3'600'000;

// Returns the change of each other mapper's share when one process maps or releases `kib` of pages like those in `use`.
// With n mappers on average, the change is 1/(n − 1) − 1/n of `kib`. With fewer than two mappers, the others may gain
// or lose all of it.
std::int64_t taken_kib(std::int64_t kib, const SharedUse& use) {
  if (use.pss_kib >= use.rss_kib) return 0;
  if (2 * use.pss_kib >= use.rss_kib) return std::min(kib / 2, use.rss_kib - use.pss_kib);
  const auto rss = static_cast<double>(use.rss_kib);
  const auto pss = static_cast<double>(use.pss_kib);
  return static_cast<std::int64_t>(static_cast<double>(kib) * pss * pss / (rss * (rss - pss)));
}

}  // namespace

SharedUses shared_uses(const ProcessMemory& memory) {
  return {SharedUse{memory.or_zero(ProcessField::rss_file), memory.or_zero(ProcessField::pss_file)},
          SharedUse{memory.or_zero(ProcessField::rss_shmem), memory.or_zero(ProcessField::pss_shmem)}};
}

void MapperChanges::observe(const SharedUses& now, bool execed, std::int64_t now_ms,
                            std::optional<ObservedMapper>& mapper) {
  const bool is_new = !mapper;
  if (is_new) mapper.emplace().first_ms = now_ms;
  for (std::size_t kind = 0; kind < now.size(); ++kind) {
    const SharedUse& before = mapper->uses[kind];
    const std::int64_t moved_kib = std::abs(now[kind].rss_kib - before.rss_kib);
    if (moved_kib == 0 && !execed) continue;
    const std::int64_t kib = execed ? taken_kib(before.rss_kib, before) + taken_kib(now[kind].rss_kib, now[kind])
                                    : std::max(taken_kib(moved_kib, before), taken_kib(moved_kib, now[kind]));
    if (is_new) mapper->taken_kib[kind] = kib;
    add(kind, kib, now_ms);
  }
  mapper->uses = now;
}

// Adds the change that the exit causes, but only for readings since the first tick of the process. Readings of other
// processes from before that tick did not share with it: for them, start and exit cancel out.
void MapperChanges::observe_exit(const ObservedMapper& mapper, std::int64_t now_ms) {
  for (std::size_t kind = 0; kind < mapper.uses.size(); ++kind) {
    const SharedUse& use = mapper.uses[kind];
    const std::int64_t kib = taken_kib(use.rss_kib, use);
    add(kind, kib, now_ms);
    add(kind, -kib - mapper.taken_kib[kind], mapper.first_ms);
  }
}

void MapperChanges::add(std::size_t kind, std::int64_t kib, std::int64_t before_ms) {
  if (kib == 0) return;
  auto change = std::ranges::lower_bound(changes_, before_ms, {}, &Change::before_ms);
  if (change == changes_.end() || change->before_ms != before_ms) {
    if (kib < 0) return;  // expired, or nothing was taken at that time
    change = changes_.insert(change, {.before_ms = before_ms});
  }
  change->kib[kind] += kib;
  changed_ = true;
}

bool MapperChanges::finish(std::int64_t now_ms) {
  if (!std::exchange(changed_, false)) return false;
  std::erase_if(changes_, [&](const Change& change) { return change.before_ms < now_ms - kChangesKeptMs; });
  std::array<std::int64_t, 2> sum{};
  for (std::size_t i = changes_.size(); i-- > 0;) {
    Change& change = changes_[i];
    for (std::size_t kind = 0; kind < sum.size(); ++kind) change.since_kib[kind] = sum[kind] += change.kib[kind];
  }
  return true;
}

std::int64_t MapperChanges::change_kib(const SharedUses& uses, std::int64_t read_ms) const {
  const auto change = std::ranges::upper_bound(changes_, read_ms, {}, &Change::before_ms);
  if (change == changes_.end()) return 0;
  std::int64_t kib = 0;
  for (std::size_t kind = 0; kind < uses.size(); ++kind) {
    // Other mappers of its pages can take at most its PSS. If two of three mappers release them, it gains twice its
    // PSS.
    const std::int64_t max_kib = std::min(uses[kind].rss_kib, 2 * uses[kind].pss_kib);
    kib += std::clamp<std::int64_t>(change->since_kib[kind], 0, max_kib);
  }
  return kib;
}

}  // namespace memoir
