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
// In this time a part of what a fork left shared may be written to.
constexpr std::int64_t kCopiedMs = 120'000;
constexpr std::int64_t kCopiedPart = 4;
// A process that may share anonymous memory is never thought to have all of it for itself: by that bounds are told.
constexpr std::int64_t kSharedKib = 4;
// So much less is thought to be wrong after a reading that found nothing wrong.
constexpr double kTrust = 4;
constexpr double kLeastWrong = 1.0 / 64;
constexpr double kMostWrong = 8;

std::int64_t moved(const ProcessMemory& from, const ProcessMemory& to, F counter) {
  return to.or_zero(counter) - from.or_zero(counter);
}

std::int64_t share(std::int64_t now, Value part, Value whole) {
  if (!part || !whole || *whole <= 0) return now;
  const double ratio = std::min(static_cast<double>(*part) / static_cast<double>(*whole), 1.0);
  return static_cast<std::int64_t>(static_cast<double>(now) * ratio);
}

// Pages that came are new, and nobody else's; of those that went as large a part was the process's own as of all.
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

// How much of what others may have a part in moved.
std::int64_t moved_shared_kib(const ExactReading& last, const ProcessMemory& now, bool related) {
  const ProcessMemory& read = last.memory;
  std::int64_t kib = std::abs(moved(read, now, F::rss_file)) + std::abs(moved(read, now, F::rss_shmem)) +
                     std::abs(moved(read, now, F::hugetlb_pages));
  if (related || !anonymous_unshared(read)) kib += std::abs(moved(read, now, F::rss_anon));
  return kib;
}

void carry_on_whole(const ProcessMemory& read, ProcessMemory& memory) {
  memory.set(F::pss, share(memory.or_zero(F::vm_rss), read.get(F::pss), read.get(F::rss)));
}

}  // namespace

bool anonymous_unshared(const ProcessMemory& read) {
  return read.has(F::pss_anon) && read.get(F::pss_anon) == read.get(F::anonymous);
}

std::int64_t touched_kib(const ExactReading& last, const ProcessMemory& now, const KinSince& kin, std::int64_t now_ms) {
  std::int64_t kib = moved_shared_kib(last, now, kin.forked);
  if (kin.forked) kib += now.or_zero(F::vm_rss) / kTouchedPart;
  const std::int64_t common = last.memory.or_zero(F::anonymous) - last.memory.or_zero(F::pss_anon);
  const std::int64_t copied = common / kCopiedPart * std::min(now_ms - last.at_ms, kCopiedMs) / kCopiedMs;
  return kib + std::min(copied, kin.wrote_kib);
}

double learn(double wrong_part, std::int64_t touched_kib, std::int64_t error_kib) {
  if (touched_kib == 0) return wrong_part;
  const double wrong = static_cast<double>(error_kib) / static_cast<double>(touched_kib);
  return std::clamp(std::max(wrong, wrong_part / kTrust), kLeastWrong, kMostWrong);
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
  constexpr std::array counters{F::rss_anon, F::rss_file, F::rss_shmem, F::vm_swap, F::vm_lck, F::hugetlb_pages};
  const bool still = std::ranges::all_of(counters, [&](F counter) { return moved(read, memory, counter) == 0; });
  if (related) sample.source = Source::estimated;
  if (still && related) take_off_shared(memory);
  if (still) return;

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
  memory.set(F::swap, memory.get(F::vm_swap));
  add(memory, F::swap_pss, moved(read, memory, F::vm_swap));
}

}  // namespace memoir
