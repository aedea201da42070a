#include "collect/pss/pool.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "collect/process/relatives.h"

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::int64_t kSharedMuchKib = 1024;
constexpr std::int64_t kSharedPart = 4;  // 1/kSharedPart of its resident memory

using Image = std::tuple<std::int32_t, std::string_view, std::int64_t>;

bool shares_much(const PoolMember& member) {
  const std::int64_t shmem_kib = member.now->or_zero(F::rss_shmem);
  return member.parent_pid > kInit && shmem_kib >= kSharedMuchKib &&
         shmem_kib >= member.now->or_zero(F::vm_rss) / kSharedPart;
}

// A sum of parts divided by a sum of wholes; 1 if the wholes are 0.
struct Ratio {
  std::int64_t part = 0;
  std::int64_t whole = 0;

  void add(const ProcessMemory& read, F of_part, F of_whole) {
    part += read.or_zero(of_part);
    whole += read.or_zero(of_whole);
  }
  double share() const {
    return whole <= 0 ? 1 : std::min(static_cast<double>(part) / static_cast<double>(whole), 1.0);
  }
};

// Evaluates the available readings. Returns false if a reading lacks the parts of PSS (before Linux 5.3).
bool update_readings(std::span<const PoolMember> members, std::int64_t now_ms, Pool& pool) {
  std::vector<const PoolMember*> readings;
  for (const std::size_t i : pool.members) {
    const ExactReading* const exact = members[i].exact;
    if (exact == nullptr) continue;
    if (!exact->memory.has(F::pss_shmem)) return false;
    readings.push_back(&members[i]);
  }
  std::ranges::stable_sort(readings, std::ranges::greater(), [](const PoolMember* of) { return of->exact->at_ms; });
  readings.resize(std::min(readings.size(), kPoolReadings));
  const auto fresh = std::ranges::count_if(
      readings, [&](const PoolMember* of) { return now_ms - of->exact->at_ms < kPoolReadEveryMs; });
  pool.room = kPoolReadings - static_cast<std::size_t>(fresh);
  if (readings.empty()) return true;
  Ratio anonymous;
  Ratio file;
  Ratio shmem;
  Ratio private_anonymous;
  Ratio private_file;
  Ratio swap_pss;
  std::int64_t shared_swap_kib = 0;
  for (const PoolMember* const of : readings) {
    const ProcessMemory& memory = *of->now;
    anonymous.add(memory, F::pss_anon, F::anonymous);
    file.add(memory, F::pss_file, F::rss_file);
    shmem.add(memory, F::pss_shmem, F::rss_shmem);
    private_anonymous.add(memory, F::private_dirty, F::anonymous);
    private_file.add(memory, F::private_clean, F::rss_file);
    swap_pss.add(memory, F::swap_pss, F::vm_swap);
    shared_swap_kib += std::max<std::int64_t>(memory.or_zero(F::swap) - memory.or_zero(F::vm_swap), 0);
  }
  pool.shares = PoolShares{anonymous.share(),
                           file.share(),
                           shmem.share(),
                           private_anonymous.share(),
                           private_file.share(),
                           swap_pss.share(),
                           shared_swap_kib / static_cast<std::int64_t>(readings.size())};
  return true;
}

std::int64_t part_of(std::int64_t kib, double share) {
  return static_cast<std::int64_t>(static_cast<double>(kib) * share);
}

}  // namespace

std::vector<Pool> find_pools(std::span<const PoolMember> members, std::int64_t now_ms) {
  std::map<Image, Pool> by_image;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const PoolMember& member = members[i];
    if (!shares_much(member)) continue;
    by_image[{member.parent_pid, member.comm, member.now->or_zero(F::vm_exe)}].members.push_back(i);
  }
  std::vector<Pool> pools;
  for (auto& [image, pool] : by_image) {
    if (pool.members.size() < kMinPool) continue;
    if (update_readings(members, now_ms, pool)) pools.push_back(std::move(pool));
  }
  return pools;
}

void estimate_by_siblings(const PoolShares& shares, const ExactReading* last, ProcessSample& sample) {
  ProcessMemory& memory = sample.memory;
  const auto read = [last](F field) { return last != nullptr ? last->memory.or_zero(field) : 0; };
  std::int64_t moved_kib = 0;
  const auto set_part = [&](F part, F counter, double share) {
    const std::int64_t more_kib = memory.or_zero(counter) - read(counter);
    if (more_kib <= 0 && last != nullptr) return;
    const std::int64_t kib = read(part) + part_of(more_kib, share);
    moved_kib += kib - memory.or_zero(part);
    memory.set(part, kib);
  };
  set_part(F::pss_file, F::rss_file, shares.file);
  set_part(F::pss_shmem, F::rss_shmem, shares.shmem);
  if (last == nullptr) set_part(F::pss_anon, F::rss_anon, shares.anonymous);
  memory.set(F::pss, std::min(memory.or_zero(F::pss) + moved_kib, memory.or_zero(F::vm_rss)));
  sample.source = Source::estimated;
  if (last == nullptr) {
    memory.set(F::private_dirty, part_of(memory.or_zero(F::rss_anon), shares.private_anonymous));
    memory.set(F::private_clean, part_of(memory.or_zero(F::rss_file), shares.private_file));
    if (const auto vm_swap = memory.get(F::vm_swap)) {
      memory.set(F::swap, *vm_swap + shares.shared_swap_kib);
      memory.set(F::swap_pss, part_of(*vm_swap, shares.swap_pss));
    }
    // The process may have just been forked, and then shares anonymous memory.
    take_off_shared(memory);
  }
  keep_order(memory);
}

}  // namespace memoir
