#include "collect/pss/choice.h"

#include <algorithm>
#include <cmath>

#include "base/each_of.h"

namespace memoir {
namespace {

// What may be wrong without a reading: a 200th of a process; of a small one a 32nd, but eight pages at least and
// sixteen at most.
constexpr double kSlightKib = 32;
constexpr double kSlightOfSmallKib = 64;
constexpr double kSlightPart = 200;
constexpr double kSlightPartOfSmall = 32;

// Before the first reading: opening the file, and its pages.
constexpr std::int64_t kOpenUs = 60;
constexpr std::int64_t kKibPerUs = 100;

// What is dear to read is read that much more seldom.
constexpr std::int64_t kDearUs = 1'000;
constexpr std::int64_t kMostSeldom = 6;

std::int64_t greatest_age_ms(const Need& need) {
  const std::int64_t cpu_us = need.unread ? 0 : need.cost.cpu_us;
  return kGreatestAgeMs * std::clamp<std::int64_t>(cpu_us / kDearUs, 1, kMostSeldom);
}

bool rests(const Need& need, std::int64_t times = kRest) {
  return !need.unread && need.age_ms * 1000 < need.cost.wall_us * times;
}

std::int64_t unknown_kib(const Need& need) {
  return need.unread ? need.rss_kib : std::max(need.moved_kib, need.touched_kib);
}

// The older the reading, the less is thought of it.
double aged(double kib, const Need& need) {
  return kib * std::exp2(kDoublings * static_cast<double>(need.age_ms) / static_cast<double>(greatest_age_ms(need)));
}

double wrong_kib(const Need& need) {
  return need.wrong_part * static_cast<double>(need.touched_kib);
}

// How much may be wrong by now, in KiB. It grows with age, so that nobody waits forever.
double doubt(const Need& need) {
  if (need.unread) return aged(2 * static_cast<double>(need.rss_kib) + kSlightKib, need);
  return aged(wrong_kib(need) + kSlightKib, need);
}

// Of each pool the first that it has room for stay.
void leave_to_siblings(std::span<const Need> needs, std::span<const Pool> pools, std::vector<std::size_t>& chosen) {
  std::vector<std::size_t> room = each_of(pools, &Pool::room);
  std::erase_if(chosen, [&](std::size_t i) {
    if (needs[i].pool == Need::kNoPool) return false;
    if (room[needs[i].pool] == 0) return true;
    --room[needs[i].pool];
    return false;
  });
}

}  // namespace

std::int64_t expected_us(const Need& need) {
  return need.unread ? kOpenUs + need.rss_kib / kKibPerUs : need.cost.cpu_us;
}

bool due(const Need& need) {
  if (need.unread) return true;
  if (rests(need)) return false;
  if (need.age_ms >= greatest_age_ms(need)) return true;
  if (need.touched_kib == 0) return false;
  const auto pss_kib = static_cast<double>(need.pss_kib);
  const double of_small_kib = std::clamp(pss_kib / kSlightPartOfSmall, kSlightKib, kSlightOfSmallKib);
  const double slight_kib = std::max(of_small_kib, pss_kib / kSlightPart);
  return aged(wrong_kib(need), need) > slight_kib;
}

Choice choose(std::span<const Need> needs, std::int64_t allowance_us, std::span<const Pool> pools,
              std::span<const Claim> others) {
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (due(needs[i])) wanted.push_back(i);
  }
  std::vector<double> doubts(needs.size());
  for (const std::size_t i : wanted) doubts[i] = doubt(needs[i]);
  std::ranges::stable_sort(wanted, std::ranges::greater(), [&](std::size_t i) { return doubts[i]; });
  leave_to_siblings(needs, pools, wanted);
  std::vector<Claim> claims;
  claims.reserve(wanted.size() + others.size());
  for (const std::size_t i : wanted)
    claims.push_back({ClaimKind::rollup, expected_us(needs[i]), std::log2(doubts[i] / kSlightKib)});
  claims.insert(claims.end(), others.begin(), others.end());

  Choice choice;
  for (const std::size_t paid : pay(claims, allowance_us)) {
    if (paid < wanted.size()) {
      choice.chosen.push_back(wanted[paid]);
    } else {
      choice.granted.add(claims[paid].kind);
    }
  }
  if (allowance_us > 0) choice.granted.set_any();
  choice.put_off = static_cast<std::int64_t>(wanted.size() - choice.chosen.size());
  return choice;
}

void add_foremost(std::span<const Need> needs, Choice& choice) {
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
    if (due(needs[i])) --choice.put_off;
    choice.chosen.push_back(i);
  }
}

}  // namespace memoir
