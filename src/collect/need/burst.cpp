#include "collect/need/burst.h"

#include <algorithm>
#include <array>
#include <utility>

namespace memoir {
namespace {

constexpr std::array kSeen{"processes waited for memory", "available memory fell", "a process grew fast",
                           "the OOM killer chose a process"};

}  // namespace

Burst::Change Burst::see(std::int64_t now_ms, std::optional<BurstReason> reason) {
  const unsigned bit = reason ? 1U << static_cast<unsigned>(*reason) : 0;
  if (running_) {
    if (now_ms >= until_ms_) {
      end(now_ms);
      return Change::ended;
    }
    seen_ |= bit;
    length_ms_ = now_ms - began_ms_;
    if (reason && !in_rest_) until_ms_ = std::min(now_ms + kLingerMs, began_ms_ + kLongestMs);
    return Change::none;
  }
  if (!reason) return Change::none;
  const bool resting = now_ms < rest_until_ms_;
  if (resting && (*reason != BurstReason::oom_kill || std::exchange(spent_, true))) return Change::none;
  begin(now_ms, resting);
  seen_ = bit;
  return Change::began;
}

void Burst::begin(std::int64_t now_ms, bool in_rest) {
  running_ = true;
  in_rest_ = in_rest;
  soon_ = rest_ms_ > 0 && now_ms - rest_until_ms_ < rest_ms_;
  began_ms_ = now_ms;
  until_ms_ = now_ms + kLingerMs;
  length_ms_ = 0;
}

void Burst::end(std::int64_t now_ms) {
  running_ = false;
  // Nobody may have come by for long: the machine slept.
  length_ms_ = std::min(now_ms, until_ms_) - began_ms_;
  if (in_rest_) {
    rest_until_ms_ += length_ms_;
    return;
  }
  const std::int64_t least_ms = std::max(kRestTimes * length_ms_, kLeastRestMs);
  rest_ms_ = soon_ ? std::clamp(2 * rest_ms_, least_ms, kMostRestMs) : least_ms;
  rest_until_ms_ = now_ms + rest_ms_;
  spent_ = false;
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
