#include "collect/worker/blocked_users.h"

#include <fmt/format.h>
#include <iterator>

namespace memoir {

std::vector<Event> BlockedUsers::see(const Counts& blocked, const Moment& now,
                                     const std::function<std::string(std::uint32_t)>& name) {
  std::vector<Event> events;
  const auto subject = [&](std::uint32_t uid) { return fmt::format("Processes of user {} (uid {})", name(uid), uid); };
  for (const auto& [uid, count] : blocked) {
    const auto known = last_ms_.find(uid);
    if (known != last_ms_.end()) {
      known->second = now.boot_ms;
    } else if (last_ms_.size() < kMaxAtOnce) {
      last_ms_.emplace(uid, now.boot_ms);
      events.push_back({now, "degraded",
                        fmt::format("{} are slow to read: {} of them exceeded the time or the CPU time of one user. "
                                    "They are read later; until then RSS replaces their PSS, and new command lines are "
                                    "missing. Other users' processes are read as before.",
                                    subject(uid), count)});
    }
  }
  for (auto at = last_ms_.begin(); at != last_ms_.end();) {
    const bool over = now.boot_ms - at->second >= kOverAfterMs;
    if (over) {
      events.push_back(
          {now, "restored",
           fmt::format("{} have been read in time for {} minutes", subject(at->first), kOverAfterMs / 60'000)});
    }
    at = over ? last_ms_.erase(at) : std::next(at);
  }
  return events;
}

}  // namespace memoir
