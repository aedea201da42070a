#include "collect/pss/read_selection.h"

#include <algorithm>
#include <cmath>

#include "base/transformed.h"

namespace memoir {
namespace {

constexpr double kSlightKib = 32;

// Expected cost of a first reading: for opening the file, and for each page.
constexpr std::int64_t kOpenUs = 60;
constexpr std::int64_t kKibPerUs = 100;

// A process whose reading costs more than this is read less often, in proportion to the cost.
constexpr std::int64_t kDearUs = 1'000;
constexpr std::int64_t kMaxAgeFactor = 6;

std::int64_t greatest_age_ms(const ReadCandidate& need) {
  const std::int64_t cpu_us = need.unread ? 0 : need.cost.cpu_us;
  return kGreatestAgeMs * std::clamp<std::int64_t>(cpu_us / kDearUs, 1, kMaxAgeFactor);
}

bool rests(const ReadCandidate& need, std::int64_t times = kRest) {
  return !need.unread && need.age_ms * 1000 < need.cost.wall_us * times;
}

std::int64_t unknown_kib(const ReadCandidate& need) {
  return need.unread ? need.rss_kib : std::max(need.moved_kib, need.touched_kib);
}

// Increases a possible error with the age of the reading, because an older reading is less reliable.
double aged(double kib, const ReadCandidate& need) {
  return kib * std::exp2(kDoublings * static_cast<double>(need.age_ms) / static_cast<double>(greatest_age_ms(need)));
}

double wrong_kib(const ReadCandidate& need) {
  return need.wrong_part * static_cast<double>(need.touched_kib) + static_cast<double>(need.wrong_kib);
}

// Returns the possible error of the current value, in KiB. It grows with age, so no process waits forever.
double doubt(const ReadCandidate& need) {
  if (need.unread) return aged(2 * static_cast<double>(need.rss_kib) + kSlightKib, need);
  return aged(wrong_kib(need) + kSlightKib, need);
}

// Drops members of each pool beyond the number that the pool needs.
void leave_to_siblings(std::span<const ReadCandidate> needs, std::span<const Pool> pools,
                       std::vector<std::size_t>& chosen) {
  std::vector<std::size_t> room = transformed(pools, &Pool::room);
  std::erase_if(chosen, [&](std::size_t i) {
    if (needs[i].pool == ReadCandidate::kNoPool) return false;
    if (room[needs[i].pool] == 0) return true;
    --room[needs[i].pool];
    return false;
  });
}

}  // namespace

std::int64_t expected_us(const ReadCandidate& need) {
  return need.unread ? kOpenUs + need.rss_kib / kKibPerUs : need.cost.cpu_us;
}

bool due(const ReadCandidate& need) {
  if (need.unread) return true;
  if (rests(need)) return false;
  if (need.age_ms >= greatest_age_ms(need)) return true;
  if (need.touched_kib == 0 && need.wrong_kib == 0) return false;
  return aged(wrong_kib(need), need) > static_cast<double>(slight_kib(need.pss_kib));
}

ReadSelection choose(std::span<const ReadCandidate> needs, std::int64_t allowance_us, std::span<const Pool> pools,
                     std::span<const ReadRequest> others) {
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (due(needs[i])) wanted.push_back(i);
  }
  std::vector<double> doubts(needs.size());
  for (const std::size_t i : wanted) doubts[i] = doubt(needs[i]);
  std::ranges::stable_sort(wanted, std::ranges::greater(), [&](std::size_t i) { return doubts[i]; });
  leave_to_siblings(needs, pools, wanted);
  std::vector<ReadRequest> claims;
  claims.reserve(wanted.size() + others.size());
  for (const std::size_t i : wanted)
    claims.push_back({RequestKind::rollup, expected_us(needs[i]), std::log2(doubts[i] / kSlightKib)});
  claims.insert(claims.end(), others.begin(), others.end());

  ReadSelection choice;
  for (const std::size_t paid : grant_requests(claims, allowance_us)) {
    if (paid < wanted.size()) {
      choice.chosen.push_back(wanted[paid]);
    } else {
      choice.granted.add(claims[paid].kind);
    }
  }
  if (allowance_us > 0) choice.granted.set_any();
  choice.deferred = static_cast<std::int64_t>(wanted.size() - choice.chosen.size());
  return choice;
}

void add_foremost(std::span<const ReadCandidate> needs, ReadSelection& choice) {
  std::vector<std::size_t> foremost;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (unknown_kib(needs[i]) > static_cast<std::int64_t>(kSlightKib) && !rests(needs[i], kBurstRest)) {
      foremost.push_back(i);
    }
  }
  std::ranges::stable_sort(foremost,
                           [&](std::size_t a, std::size_t b) { return unknown_kib(needs[a]) > unknown_kib(needs[b]); });
  foremost.resize(std::min(foremost.size(), kBurstReads));
  std::int64_t left_us = kBurstReadUs;
  for (const std::size_t i : foremost) {
    if (left_us <= 0) break;
    if (std::ranges::find(choice.chosen, i) != choice.chosen.end()) continue;
    left_us -= expected_us(needs[i]);
    if (due(needs[i])) --choice.deferred;
    choice.chosen.push_back(i);
  }
}

}  // namespace memoir
