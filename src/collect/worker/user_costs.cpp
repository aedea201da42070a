#include "collect/worker/user_costs.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace memoir {

const std::string& UserCosts::see(const Used& used, std::int64_t boot_ms,
                                  const std::function<std::string(std::uint32_t)>& name) {
  // The first tick reads all processes, so the first window starts after it.
  if (!started_ms_) started_ms_ = boot_ms;
  const std::int64_t window_ms = boot_ms - *started_ms_;
  if (window_ms > 0) {
    for (const auto& [uid, us] : used) used_[uid] += us;
  }
  if (window_ms < kWindowMs) return problem_;
  const auto percent = [&](std::int64_t us) { return static_cast<double>(us) / 10 / static_cast<double>(window_ms); };
  std::vector<std::pair<std::int64_t, std::uint32_t>> highest;
  std::int64_t all_us = 0;
  for (const auto& [uid, us] : used_) {
    highest.emplace_back(us, uid);
    all_us += us;
  }
  std::ranges::sort(highest, std::greater());
  highest.resize(std::min(highest.size(), kMostNamed));
  problem_.clear();
  if (percent(all_us) >= kNoticeablePercent) {
    problem_ = fmt::format("used {:.1f}% of a core in {} minutes", percent(all_us), kWindowMs / 60'000);
    for (const auto& [us, uid] : highest)
      problem_ += fmt::format("{} {:.1f}% for user {} (uid {})", us == highest.front().first ? ":" : ",", percent(us),
                              name(uid), uid);
  }
  used_.clear();
  started_ms_ = boot_ms;
  return problem_;
}

}  // namespace memoir
