#pragma once

// When a tmpfs is walked, and when something of it is told. Walks cost: one is made where the time since the last is up
// and the file system moved meanwhile; earlier where it moved much; and no more of them than take a share of a core,
// saved up for some. Pure; times are of the boot clock.

#include <cstdint>
#include <optional>
#include <vector>

#include "collect/tmpfs/walk.h"
#include "proc/tmpfs.h"

namespace memoir {

class TmpfsPlan {
 public:
  // A file system, and what statfs said of it; absent: it does not answer, or is hidden.
  struct Reading {
    TmpfsMount mount;
    std::optional<TmpfsRoom> room;
  };

  explicit TmpfsPlan(std::int64_t interval_ms) : interval_ms_(interval_ms) {}

  void set_interval(std::int64_t interval_ms) { interval_ms_ = interval_ms; }  // 0: nothing is walked

  // Each file system once, each mount point too. Those that are not among them are gone.
  void see(std::vector<Reading> readings, std::int64_t now_ms);
  // What the walk of the mount whose turn it is will cost, as far as is known, and for how long it has been due.
  struct Turn {
    std::int64_t cost_us = 0;
    std::int64_t overdue_ms = 0;
  };
  std::optional<Turn> coming(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) const;
  std::int64_t interval_ms() const { return interval_ms_; }
  // The mount whose turn it is, but for those that are stuck; it counts as walked from now on.
  std::optional<TmpfsMount> next_walk(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms);
  void take(const TmpfsMount& mount, TmpfsTree tree, std::int64_t wall_ms);

  void tell_all() { tell_ = true; }
  // What is to be told: all of them, sorted by mount point, if anything of any is new. `keyframe`: in any case.
  std::optional<std::vector<TmpfsSample>> tell(bool keyframe);

 private:
  struct Place {
    TmpfsMount mount;
    std::optional<TmpfsRoom> room;
    TmpfsSample told;
    std::int64_t told_ms = 0;
    TmpfsWalk walk = TmpfsWalk::not_yet;
    std::optional<std::int64_t> walked_ms;  // or tried
    std::optional<TmpfsRoom> room_at_walk;
    std::int64_t walk_us = 0;  // what it took
    std::int64_t seen_ms = 0;  // first
    bool complained = false;
  };

  void update(Place& place, std::int64_t now_ms);
  bool is_due(const Place& place, std::int64_t now_ms) const;
  std::int64_t earned_us(std::int64_t now_ms) const;
  const Place* next_place(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) const;

  std::int64_t interval_ms_;
  std::int64_t credit_us_ = kMostCreditUs;
  std::int64_t credit_ms_ = 0;
  std::vector<Place> places_;  // sorted by mount point
  bool tell_ = false;

  static constexpr std::int64_t kMostCreditUs = 500'000;
};

}  // namespace memoir
