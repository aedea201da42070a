#include "collect/shortfall.h"

#include <fmt/format.h>

namespace memoir {

void Shortfall::see(const std::string& problem, const Moment& now, std::vector<Event>& events) {
  if (!problem.empty()) {
    if (!last_ms_) events.push_back({now, "degraded", subject_ + ' ' + problem});
    last_ms_ = now.boot_ms;
  } else if (last_ms_ && now.boot_ms - *last_ms_ >= kOverAfterMs) {
    events.push_back({now, "restored", subject_ + " have been within their bounds for 10 minutes"});
    last_ms_.reset();
  }
}

void Shortfalls::see(const CgroupsLeft& cgroups, const TextBudget& texts, const Moment& now,
                     std::vector<Event>& events) {
  std::string problem;
  if (cgroups.unknown > 0 || cgroups.unread > 0) {
    problem =
        fmt::format("are too many: {} processes are counted in the cgroups above theirs, and {} cgroups are read later",
                    cgroups.unknown, cgroups.unread);
  }
  cgroups_.see(problem, now, events);
  problem.clear();
  if (texts.shortened() > 0) {
    problem = fmt::format(
        "use too much memory: the command lines of {} processes, some of them of user {}, are truncated; their working "
        "directories and resource limits may be missing",
        texts.shortened(), texts.shortened_user());
  }
  texts_.see(problem, now, events);
}

}  // namespace memoir
