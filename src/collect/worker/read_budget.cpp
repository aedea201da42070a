#include "collect/worker/read_budget.h"

#include <algorithm>
#include <iterator>

namespace memoir {
namespace {

// Subordinate uids start at 100,000. Uids below 65,536 are the machine's own users.
constexpr std::uint32_t kRange = 65'536;
constexpr std::uint32_t kRoot = 0;

}  // namespace

void ReadBudget::begin(std::int64_t now_us) {
  const std::int64_t passed_us = now_us - began_us_;
  const std::int64_t earned = passed_us / kCpuShare;
  began_us_ = now_us;
  cpu_us_ = std::min(kCpuUsOfUsers, cpu_us_ + passed_us / kCpuShareOfUsers);
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
  if (stuck_ > 0 && too_many_stuck(owner, fast ? kMaxFastStuckOfOne : kMaxStuckOfOne)) return false;
  const auto found = users_.find(account_of(owner));
  if (found == users_.end()) return true;
  const User& user = found->second;
  if (user.tick_us <= 0 || (user.slow_us > 0 && tick_us_ <= 0)) return false;
  return fast || (user.cpu_us > 0 && (owner == kRoot || cpu_us_ > 0));
}

void ReadBudget::charge(std::uint32_t owner, const Cost& used) {
  if (used.wall_us < kSlowUs && used.cpu_us < kSlowUs) return;
  User& user = users_[account_of(owner)];
  user.tick_us -= used.wall_us;
  tick_us_ -= used.wall_us;
  if (used.cpu_us >= kSlowUs) {
    user.cpu_us -= used.cpu_us;
    if (owner != kRoot) cpu_us_ -= used.cpu_us;
  }
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

int ReadBudget::stuck_of_range(std::uint32_t owner) const {
  const std::uint32_t first = account_of(owner);
  int count = 0;
  for (auto at = stuck_by_uid_.lower_bound(first); at != stuck_by_uid_.end() && at->first - first < kRange; ++at) {
    count += at->second;
  }
  return count;
}

bool ReadBudget::too_many_stuck(std::uint32_t owner, int max) const {
  const auto found = stuck_by_uid_.find(owner);
  const int own = found == stuck_by_uid_.end() ? 0 : found->second;
  if (own >= max) return true;
  if (owner == kRoot) return false;
  const int of_range = owner < kRange ? own : stuck_of_range(owner);
  if (of_range >= kMaxStuckOfRange) return true;
  return stuck_ >= (of_range > 0 ? kMaxStuckOfStuckUsers : kMaxStuckOfUsers);
}

}  // namespace memoir
