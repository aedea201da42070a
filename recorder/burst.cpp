#include "recorder/burst.h"

#include <algorithm>
#include <array>
#include <utility>

namespace memoir {
namespace {

constexpr std::array kSeen{"processes waited for memory", "available memory fell", "a process grew fast",
                           "a process was OOM-killed"};

constexpr std::int64_t kMinRestMs = 60'000;
constexpr std::int64_t kMaxRestMs = 3'600'000;
constexpr std::int64_t kRestTimes = 4;

constexpr unsigned bit_of(BurstReason reason) {
  return 1U << static_cast<unsigned>(reason);
}

}  // namespace

Burst::Change Burst::see(std::int64_t now_ms, std::optional<BurstReason> reason) {
  if (running_) {
    if (now_ms >= until_ms_) {
      end(now_ms);
      return Change::ended;
    }
    if (!reason) return Change::none;
    seen_ |= bit_of(*reason);
    if (!in_rest_) until_ms_ = std::min(now_ms + kLingerMs, began_ms_ + kLongestMs);
    return Change::none;
  }
  if (!reason) return Change::none;
  const bool resting = now_ms < rest_from(*reason).until_ms;
  if (resting && (*reason != BurstReason::oom_kill || std::exchange(spent_, true))) return Change::none;
  begin(now_ms, resting);
  seen_ = bit_of(*reason);
  return Change::started;
}

void Burst::begin(std::int64_t now_ms, bool in_rest) {
  running_ = true;
  in_rest_ = in_rest;
  began_ms_ = now_ms;
  until_ms_ = now_ms + kLingerMs;
  length_ms_ = 0;
}

void Burst::end(std::int64_t now_ms) {
  running_ = false;
  // The call may be late, because the machine may have been suspended.
  length_ms_ = std::min(now_ms, until_ms_) - began_ms_;
  if (in_rest_) {
    grave_.until_ms += length_ms_;
  } else if (seen_ == bit_of(BurstReason::growth)) {
    rest(growth_, now_ms, 2 * std::max(kRestTimes * length_ms_, kMinRestMs));
  } else {
    rest(grave_, now_ms, std::max(kRestTimes * length_ms_, kMinRestMs));
    spent_ = false;
  }
  growth_.until_ms = std::max(growth_.until_ms, grave_.until_ms);
}

void Burst::rest(Rest& rest, std::int64_t now_ms, std::int64_t min_ms) const {
  const bool soon = rest.length_ms > 0 && began_ms_ - rest.until_ms < rest.length_ms;
  rest.length_ms = soon ? std::clamp(2 * rest.length_ms, min_ms, kMaxRestMs) : min_ms;
  rest.until_ms = now_ms + rest.length_ms;
}

std::string Burst::reasons() const {
  std::string text;
  for (std::size_t i = 0; i < kSeen.size(); ++i) {
    if ((seen_ >> i & 1U) == 0) continue;
    if (!text.empty()) text += ", ";
    text += kSeen.at(i);
  }
  return text;
}

}  // namespace memoir
