#include "collect/pss/estimate.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace memoir {
namespace {

using F = ProcessField;
using Value = std::optional<std::int64_t>;

constexpr std::int64_t kTouchedPart = 8;
// Memory that a fork left shared may be copied on write during this time.
constexpr std::int64_t kCopiedMs = 120'000;
constexpr std::int64_t kCopiedPart = 4;
// A process that may share anonymous memory never counts as the owner of all of it, because the bounds depend on that.
constexpr std::int64_t kSharedKib = 4;
// A reading without an error divides the assumed error by this factor.
constexpr double kTrust = 4;
constexpr double kMinWrong = 1.0 / 64;
constexpr double kMaxWrong = 8;
// Memory counts as private if less than 1/kAllButPart of it is shared.
constexpr std::int64_t kAllButPart = 100;

std::int64_t moved(const ProcessMemory& from, const ProcessMemory& to, F counter) {
  return to.or_zero(counter) - from.or_zero(counter);
}

std::int64_t share(std::int64_t now, Value part, Value whole) {
  if (!part || !whole || *whole <= 0) return now;
  const double ratio = std::min(static_cast<double>(*part) / static_cast<double>(*whole), 1.0);
  return static_cast<std::int64_t>(static_cast<double>(now) * ratio);
}

// Returns the PSS of the anonymous memory. New pages belong to this process. The private share of released pages is
// assumed to equal the private share of all pages.
std::int64_t anonymous_part(const ProcessMemory& read, std::int64_t now) {
  const std::int64_t before = read.or_zero(F::anonymous);
  const std::int64_t part = read.or_zero(F::pss_anon);
  return now >= before ? std::min(part + now - before, now) : share(now, part, before);
}

void add(ProcessMemory& memory, F field, std::int64_t kib) {
  if (const Value value = memory.get(field)) memory.set(field, std::max<std::int64_t>(*value + kib, 0));
}

void carry_on_parts(const ProcessMemory& read, bool own, ProcessMemory& memory) {
  const std::int64_t anonymous = memory.or_zero(F::rss_anon);
  const std::int64_t pss_anon = own ? anonymous : anonymous_part(read, anonymous);
  const std::int64_t private_moved = pss_anon - read.or_zero(F::pss_anon);
  const auto carry_on = [&](F part, F counter) {
    if (moved(read, memory, counter) == 0) return std::int64_t{0};
    memory.set(part, share(memory.or_zero(counter), read.get(part), read.get(counter)));
    return *memory.get(part) - read.or_zero(part);
  };
  const std::int64_t file_moved = carry_on(F::pss_file, F::rss_file);
  const std::int64_t shmem_moved = carry_on(F::pss_shmem, F::rss_shmem);
  memory.set(F::pss_anon, pss_anon);
  add(memory, F::pss, private_moved + file_moved + shmem_moved);
  add(memory, F::pss_dirty, private_moved + shmem_moved);
  add(memory, F::private_dirty, private_moved);
}

// Returns the swap of shared memory, which Swap includes and VmSwap omits.
std::int64_t shared_swap_kib(const ProcessMemory& read) {
  return std::max<std::int64_t>(read.or_zero(F::swap) - read.or_zero(F::vm_swap), 0);
}

// Returns the shared swap that may have been unmapped, which no counter shows.
std::int64_t moved_swap_kib(const ProcessMemory& read, const ProcessMemory& now) {
  return moved(read, now, F::vm_size) == 0 ? 0 : shared_swap_kib(read);
}

// Returns the change of memory that other processes may share.
std::int64_t moved_shared_kib(const ExactReading& last, const ProcessMemory& now, bool related) {
  const ProcessMemory& read = last.memory;
  std::int64_t kib = std::abs(moved(read, now, F::rss_file)) + std::abs(moved(read, now, F::rss_shmem)) +
                     std::abs(moved(read, now, F::hugetlb_pages)) + moved_swap_kib(read, now);
  if (related || !anonymous_unshared(read)) kib += std::abs(moved(read, now, F::rss_anon));
  return kib;
}

// Returns the possible error of one kind of shared memory, in the direction of `error_kib`.
std::int64_t room_kib(const ProcessMemory& memory, F part, F counter, std::int64_t error_kib) {
  const std::int64_t kib = memory.or_zero(part);
  return error_kib < 0 ? kib : std::max<std::int64_t>(memory.or_zero(counter) - kib, 0);
}

// Moves private pages of files and shared memory to the shared ones; a negative amount moves them back.
void make_shared(std::int64_t kib, ProcessMemory& memory) {
  const std::int64_t dirty =
      kib > 0 ? memory.or_zero(F::private_dirty) - memory.or_zero(F::pss_anon) : memory.or_zero(F::shared_dirty);
  const std::int64_t of_dirty = std::clamp(kib, -std::max<std::int64_t>(dirty, 0), std::max<std::int64_t>(dirty, 0));
  add(memory, F::private_dirty, -of_dirty);
  add(memory, F::shared_dirty, of_dirty);
  add(memory, F::private_clean, of_dirty - kib);
  add(memory, F::shared_clean, kib - of_dirty);
}

void carry_on_whole(const ProcessMemory& read, ProcessMemory& memory) {
  memory.set(F::pss, share(memory.or_zero(F::vm_rss), read.get(F::pss), read.get(F::rss)));
}

}  // namespace

bool anonymous_unshared(const ProcessMemory& read) {
  return read.has(F::pss_anon) && read.get(F::pss_anon) == read.get(F::anonymous);
}

std::int64_t touched_kib(const ExactReading& last, const ProcessMemory& now, const RelativesSince& kin,
                         std::int64_t now_ms) {
  std::int64_t kib = moved_shared_kib(last, now, kin.forked);
  if (kin.forked) kib += now.or_zero(F::vm_rss) / kTouchedPart;
  const std::int64_t common = last.memory.or_zero(F::anonymous) - last.memory.or_zero(F::pss_anon);
  const std::int64_t copied = common / kCopiedPart * std::min(now_ms - last.at_ms, kCopiedMs) / kCopiedMs;
  return kib + std::min(copied, kin.wrote_kib);
}

double learn(double wrong_part, std::int64_t touched_kib, std::int64_t error_kib) {
  if (touched_kib == 0) return wrong_part;
  const double wrong = static_cast<double>(error_kib) / static_cast<double>(touched_kib);
  return std::clamp(std::max(wrong, wrong_part / kTrust), kMinWrong, kMaxWrong);
}

void take_off_shared(ProcessMemory& memory) {
  const Value pss_anon = memory.get(F::pss_anon);
  if (!pss_anon || pss_anon != memory.get(F::rss_anon)) return;
  for (const F field : {F::pss_anon, F::pss, F::pss_dirty, F::private_dirty}) add(memory, field, -kSharedKib);
}

void estimate(const ExactReading& last, bool related, ProcessSample& sample) {
  ProcessMemory& memory = sample.memory;
  const ProcessMemory& read = last.memory;
  memory.copy_part(read, F{}, kRollupFields);
  sample.source = Source::held;
  sample.read_boot_ms = last.at_ms;
  constexpr std::array counters{F::rss_anon, F::rss_file, F::rss_shmem, F::vm_swap, F::vm_lck, F::hugetlb_pages};
  const bool still = std::ranges::all_of(counters, [&](F counter) { return moved(read, memory, counter) == 0; });
  if (related || moved_swap_kib(read, memory) > 0) sample.source = Source::estimated;
  if (still && related) take_off_shared(memory);
  if (still) return keep_order(memory);

  if (moved_shared_kib(last, memory, related) > 0) sample.source = Source::estimated;
  if (read.has(F::pss_anon)) {
    carry_on_parts(read, !related && anonymous_unshared(read), memory);
  } else {
    carry_on_whole(read, memory);
  }
  if (related) take_off_shared(memory);
  memory.set(F::rss, memory.get(F::vm_rss));
  memory.set(F::pss, std::min(memory.or_zero(F::pss), memory.or_zero(F::vm_rss)));
  memory.set(F::anonymous, memory.get(F::rss_anon));
  if (read.get(F::referenced) == read.get(F::rss)) memory.set(F::referenced, memory.get(F::rss));
  // Shared memory that is still mapped but no longer resident was swapped out.
  const std::int64_t shared_swapped = moved(read, memory, F::vm_size) != 0 ? 0 : -moved(read, memory, F::rss_shmem);
  add(memory, F::swap, moved(read, memory, F::vm_swap) + std::max(shared_swapped, -shared_swap_kib(read)));
  add(memory, F::swap_pss, moved(read, memory, F::vm_swap));
  keep_order(memory);
}

void correct_shared(std::int64_t error_kib, ProcessSample& sample) {
  ProcessMemory& memory = sample.memory;
  sample.source = Source::estimated;
  const std::int64_t private_kib =
      memory.or_zero(F::private_clean) + memory.or_zero(F::private_dirty) - memory.or_zero(F::pss_anon);
  const std::int64_t file_kib = room_kib(memory, F::pss_file, F::rss_file, error_kib);
  const std::int64_t shmem_kib = room_kib(memory, F::pss_shmem, F::rss_shmem, error_kib);
  if (file_kib + shmem_kib <= 0) return;
  const std::int64_t of_shmem = share(error_kib, shmem_kib, file_kib + shmem_kib);
  add(memory, F::pss_file, error_kib - of_shmem);
  add(memory, F::pss_shmem, of_shmem);
  add(memory, F::pss_dirty, of_shmem);
  add(memory, F::pss, error_kib);
  const std::int64_t shared_kib = memory.or_zero(F::pss_file) + memory.or_zero(F::pss_shmem);
  const std::int64_t mapped_kib = memory.or_zero(F::rss_file) + memory.or_zero(F::rss_shmem);
  if (error_kib < 0) {
    // A page that a second process maps loses half its PSS and is no longer private.
    make_shared(std::min(std::max<std::int64_t>(private_kib, 0), -2 * error_kib), memory);
  } else if (shared_kib >= mapped_kib - mapped_kib / kAllButPart) {
    make_shared(private_kib - shared_kib, memory);
  }
  keep_order(memory);
}

void keep_order(ProcessMemory& memory) {
  const Value pss = memory.get(F::pss);
  const Value rss = rss_kib(memory);
  if (!pss || !rss) return;
  memory.set(F::pss, std::min(*pss, *rss));
  std::int64_t over = memory.or_zero(F::private_clean) + memory.or_zero(F::private_dirty) - *memory.get(F::pss);
  for (const F part : {F::private_clean, F::private_dirty}) {
    const std::int64_t less = std::clamp<std::int64_t>(over, 0, memory.or_zero(part));
    add(memory, part, -less);
    over -= less;
  }
}

}  // namespace memoir
