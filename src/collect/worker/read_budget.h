#pragma once

// Limits the reads of each user's processes, so that no user can prevent reads of other users' processes. Fast reads
// are free. Slow reads are charged to an account: the uid of the process, or from 65,536 on a range of that many uids,
// which a user may have as subordinate uids. Two limits apply. Tick time: how long the reads of one user, and those of
// all slow users, may delay one tick. CPU: a share of a core over time, saved for up to a tick of 10 s, because a walk
// over large page tables continues in the kernel even if nothing waits for it.
//
// The number of stuck reads is limited as well: per uid, per range of uids, and in total. The limit is higher for a
// read that is likely to be fast. Users with a stuck read leave slots to those without one, and all users leave some to
// root. Pure.

#include <cstdint>
#include <map>

#include "model/tick.h"

namespace memoir {

class ReadBudget {
 public:
  // Owner of reads that belong to no user. No user has the uid (uid_t)-1.
  static constexpr std::uint32_t kNoOwner = 0xFFFFFFFF;
  static constexpr std::int64_t kSlowUs = 5'000;
  static constexpr std::int64_t kTickUs = 1'000'000;
  static constexpr std::int64_t kTickUsOfAll = 1'250'000;
  static constexpr std::int64_t kCpuUs = 500'000;
  static constexpr std::int64_t kCpuShare = 20;             // one 20th of a core
  static constexpr std::int64_t kCpuUsOfUsers = 1'000'000;  // CPU time of all users except root
  static constexpr std::int64_t kCpuShareOfUsers = 10;
  static constexpr int kMaxStuck = 32;
  static constexpr int kMaxStuckOfUsers = 28;       // stuck reads of all users except root
  static constexpr int kMaxStuckOfStuckUsers = 20;  // total at which a user with a stuck read gets no other slot
  static constexpr int kMaxStuckOfRange = 4;
  static constexpr int kMaxStuckOfOne = 2;
  static constexpr int kMaxFastStuckOfOne = 4;

  // Starts a tick. `now_us` is on a clock that is never stepped.
  void begin(std::int64_t now_us);

  // Returns whether another read may start. `fast`: the read is likely to be fast.
  bool allows(std::uint32_t owner, bool fast) const;
  bool worker_allowed() const { return stuck_ < kMaxStuck; }

  // Charges the cost of a read.
  void charge(std::uint32_t owner, const Cost& used);
  // Call these when a read of this owner got stuck, and when it has returned.
  void stuck(std::uint32_t owner);
  void came_back(std::uint32_t owner);

  // Returns the recent duration of the owner's slow reads. Owners with less come first.
  std::int64_t slow_us(std::uint32_t owner) const;
  bool any_slow() const { return !users_.empty(); }

 private:
  struct User {
    std::int64_t tick_us = kTickUs;  // remaining time of this tick
    std::int64_t cpu_us = kCpuUs;    // remaining CPU time
    std::int64_t slow_us = 0;

    bool as_new() const { return cpu_us == kCpuUs && slow_us == 0; }
  };

  static std::uint32_t account_of(std::uint32_t owner);
  int stuck_of_range(std::uint32_t owner) const;
  bool too_many_stuck(std::uint32_t owner, int max) const;

  std::map<std::uint32_t, User> users_;  // by account (uid or range): owners with a recent slow read
  std::map<std::uint32_t, int> stuck_by_uid_;
  std::int64_t tick_us_ = kTickUsOfAll;  // remaining time of this tick
  std::int64_t cpu_us_ = kCpuUsOfUsers;  // remaining CPU time
  std::int64_t began_us_ = 0;
  int stuck_ = 0;
};

}  // namespace memoir
