#include "recorder/shortage.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::int64_t kLowEachMs = 1'000;
constexpr std::int64_t kRecentMs = 5'000;
constexpr std::int64_t kWindowMs = 20'000;
constexpr std::int64_t kHorizonMs = 60'000;
constexpr std::int64_t kNearHorizonMs = 180'000;

// A smaller fall is no sign of a shortage: a starting process causes one.
constexpr std::int64_t kMuchKib = 64 * 1024;
constexpr std::int64_t kMuchPart = 32;  // or this part of the machine's memory, if that is less

// Rates per second that count as stalls. Processes wait for each page that is swapped in. An allocation that stalls has
// reclaimed some dozens of pages.
constexpr std::int64_t kAllocationStalls = 20;
constexpr std::int64_t kSwappedIn = 1'000;

using M = MachineField;

std::int64_t increase(const MachineMemory& before, const MachineMemory& now, M field) {
  const auto from = before.get(field);
  const auto to = now.get(field);
  return from && to ? *to - *from : 0;
}

}  // namespace

std::optional<std::int64_t> Shortage::see(std::int64_t now_ms, std::int64_t available_kib, std::int64_t total_kib) {
  // One older value always stays, because scans may be rare.
  while (lows_.size() > 1 && now_ms - lows_.front().at_ms > kWindowMs) lows_.pop_front();
  std::optional<Low> before;
  for (const Low& low : lows_) {
    if (now_ms - low.at_ms < kRecentMs) break;
    if (!before || low.kib <= before->kib) before = low;
  }
  if (lows_.empty() || now_ms - lows_.back().at_ms >= kLowEachMs) {
    lows_.push_back({now_ms, available_kib});
  } else {
    lows_.back().kib = std::min(lows_.back().kib, available_kib);
  }
  if (!before) return std::nullopt;
  const std::int64_t fall_kib = before->kib - available_kib;
  if (fall_kib < std::min(kMuchKib, total_kib / kMuchPart) || fall_kib <= 0) return std::nullopt;
  const std::int64_t left_ms = available_kib * (now_ms - before->at_ms) / fall_kib;
  return left_ms <= (available_kib < total_kib / 10 ? kNearHorizonMs : kHorizonMs) ? std::optional(left_ms)
                                                                                   : std::nullopt;
}

bool stalls(const MachineMemory& before, const MachineMemory& now, std::int64_t elapsed_ms) {
  const auto often = [elapsed_ms](std::int64_t count, std::int64_t each_second) {
    return count > 0 && count * 1000 >= each_second * elapsed_ms;
  };
  if (before.has(M::psi_some_total) && now.has(M::psi_some_total)) {
    return often(increase(before, now, M::psi_some_total), kStallUs * 1'000'000 / kStallWindowUs);
  }
  std::int64_t allocations = 0;
  for (const M zone :
       {M::allocstall_dma, M::allocstall_dma32, M::allocstall_normal, M::allocstall_movable, M::allocstall_device}) {
    allocations += increase(before, now, zone);
  }
  return often(allocations, kAllocationStalls) || often(increase(before, now, M::pswpin), kSwappedIn);
}

}  // namespace memoir
