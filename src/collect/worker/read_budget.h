#pragma once

// What reads of one user's processes may take, so that nobody's processes keep those of others from being read. A read
// that came back fast costs nothing here; slow ones are counted by the uid of the process (from 65,536 on by the range
// of as many, which a user may have as subordinate ones), in two ways. Time of the tick: what its reads may hold up one
// tick for, and those of all slow users. CPU: a share of a core over time, saved up for a tick of 10 s, because a walk
// over large page tables goes on in the kernel, whether anybody waits for it or not.
//
// And only so many reads may be stuck at a time: of one uid, of one such range, and of all. A read that is likely to be
// fast is allowed longer than others. Pure.

#include <cstdint>
#include <map>

#include "model/tick.h"

namespace memoir {

class ReadBudget {
 public:
  // The owner of what belongs to no user: (uid_t)-1 is nobody's.
  static constexpr std::uint32_t kNoOwner = 0xFFFFFFFF;
  static constexpr std::int64_t kSlowUs = 5'000;
  static constexpr std::int64_t kTickUs = 1'000'000;
  static constexpr std::int64_t kTickUsOfAll = 1'250'000;
  static constexpr std::int64_t kCpuUs = 500'000;
  static constexpr std::int64_t kCpuShare = 20;  // one 20th of a core
  static constexpr int kMostStuck = 32;
  static constexpr int kMostStuckOfRange = 8;
  static constexpr int kMostStuckOfOne = 4;
  static constexpr int kMostFastStuckOfOne = 8;

  // A tick begins. The time is of any clock that does not step.
  void begin(std::int64_t now_us);

  // Whether another read may begin. `fast`: it is likely to be.
  bool allows(std::uint32_t owner, bool fast) const;
  bool worker_allowed() const { return stuck_ < kMostStuck; }

  // What a read took.
  void charge(std::uint32_t owner, const Cost& used);
  // A read of theirs got stuck, and came back.
  void stuck(std::uint32_t owner);
  void came_back(std::uint32_t owner);

  // What slow reads of theirs took lately: those who have taken least come first.
  std::int64_t slow_us(std::uint32_t owner) const;
  bool any_slow() const { return !users_.empty(); }

 private:
  struct User {
    std::int64_t tick_us = kTickUs;  // left
    std::int64_t cpu_us = kCpuUs;    // left
    std::int64_t slow_us = 0;

    bool as_new() const { return cpu_us == kCpuUs && slow_us == 0; }
  };

  static std::uint32_t account_of(std::uint32_t owner);
  bool too_many_stuck(std::uint32_t owner, int most) const;

  std::map<std::uint32_t, User> users_;  // by account: those who had a slow read not long ago
  std::map<std::uint32_t, int> stuck_by_uid_;
  std::int64_t tick_us_ = kTickUsOfAll;  // left
  std::int64_t began_us_ = 0;
  int stuck_ = 0;
};

}  // namespace memoir
