#include "collect/worker/read_budget.h"

#include <algorithm>
#include <iterator>

namespace memoir {
namespace {

// Subordinate uids begin at 100,000; below are the machine's own users.
constexpr std::uint32_t kRange = 65'536;

}  // namespace

void ReadBudget::begin(std::int64_t now_us) {
  const std::int64_t earned = (now_us - began_us_) / kCpuShare;
  began_us_ = now_us;
  tick_us_ = kTickUsOfAll;
  for (auto at = users_.begin(); at != users_.end();) {
    User& user = at->second;
    user.tick_us = kTickUs;
    user.cpu_us = std::min(kCpuUs, user.cpu_us + earned);
    user.slow_us /= 2;
    at = user.as_new() ? users_.erase(at) : std::next(at);
  }
}

std::uint32_t ReadBudget::account_of(std::uint32_t owner) {
  return owner < kRange ? owner : owner / kRange * kRange;
}

bool ReadBudget::allows(std::uint32_t owner, bool fast) const {
  if (stuck_ > 0 && too_many_stuck(owner, fast ? kMostFastStuckOfOne : kMostStuckOfOne)) return false;
  const auto found = users_.find(account_of(owner));
  if (found == users_.end()) return true;
  const User& user = found->second;
  if (user.tick_us <= 0 || (user.slow_us > 0 && tick_us_ <= 0)) return false;
  return fast || user.cpu_us > 0;
}

void ReadBudget::charge(std::uint32_t owner, const Cost& used) {
  if (used.wall_us < kSlowUs && used.cpu_us < kSlowUs) return;
  User& user = users_[account_of(owner)];
  user.tick_us -= used.wall_us;
  tick_us_ -= used.wall_us;
  if (used.cpu_us >= kSlowUs) user.cpu_us -= used.cpu_us;
  user.slow_us += std::max(used.wall_us, used.cpu_us);
}

void ReadBudget::stuck(std::uint32_t owner) {
  ++stuck_by_uid_[owner];
  ++stuck_;
}

void ReadBudget::came_back(std::uint32_t owner) {
  if (--stuck_by_uid_[owner] == 0) stuck_by_uid_.erase(owner);
  --stuck_;
}

std::int64_t ReadBudget::slow_us(std::uint32_t owner) const {
  const auto found = users_.find(account_of(owner));
  return found == users_.end() ? 0 : found->second.slow_us;
}

bool ReadBudget::too_many_stuck(std::uint32_t owner, int most) const {
  const auto own = stuck_by_uid_.find(owner);
  if (own != stuck_by_uid_.end() && own->second >= most) return true;
  if (owner < kRange) return false;
  const std::uint32_t first = account_of(owner);
  int of_range = 0;
  for (auto at = stuck_by_uid_.lower_bound(first); at != stuck_by_uid_.end() && at->first - first < kRange; ++at) {
    of_range += at->second;
  }
  return of_range >= kMostStuckOfRange;
}

}  // namespace memoir
