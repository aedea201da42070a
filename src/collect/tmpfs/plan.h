#pragma once

// Decides when to walk a tmpfs, and when to report its values. Walks are expensive. A file system is walked if it has
// changed since the last walk and its interval has passed; earlier after a large change. It is walked immediately when
// it reaches 80 or 95 % of its limit, and after an OOM kill if it is nearly full or has changed much. All walks
// together use a limited share of a core, of which some can be saved. Pure; times are on the boot clock.

#include <cstdint>
#include <optional>
#include <vector>

#include "collect/tmpfs/walk.h"
#include "proc/tmpfs.h"

namespace memoir {

class TmpfsPlan {
 public:
  // A file system with its usage by statfs(2); nullopt if it does not respond, or is hidden.
  struct Reading {
    TmpfsMount mount;
    std::optional<TmpfsUsage> room;
  };

  explicit TmpfsPlan(std::int64_t interval_ms) : interval_ms_(interval_ms) {}

  void set_interval(std::int64_t interval_ms) { interval_ms_ = interval_ms; }  // 0: no walks

  // Takes the readings of a tick; each file system and each mount point occurs once. Mounts that are missing are no
  // longer mounted.
  void see(std::vector<Reading> readings, std::int64_t now_ms);
  // The next due walk: its expected cost, as far as known, and how long it has been due.
  struct Turn {
    std::int64_t cost_us = 0;
    std::int64_t overdue_ms = 0;
    bool urgent = false;  // true if it needs only the budget of walks, not the budget of all reads
  };
  std::optional<Turn> coming(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) const;
  std::int64_t interval_ms() const { return interval_ms_; }
  // Returns the next due mount that is not stuck. It counts as walked from now on.
  std::optional<TmpfsMount> next_walk(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms);
  void take(const TmpfsMount& mount, TmpfsTree tree, std::int64_t wall_ms);

  // Call it after an OOM kill. Makes mounts due that may have caused it, because the report of the kill needs their
  // entries.
  void note_oom_kill();

  void report_all() { changed_ = true; }
  // Returns all mounts, sorted by mount point, if any value changed or at a keyframe; otherwise nullopt.
  std::optional<std::vector<TmpfsSample>> report(bool keyframe);

 private:
  struct Place {
    TmpfsMount mount;
    std::optional<TmpfsUsage> room;
    TmpfsSample sample;
    std::int64_t reported_ms = 0;
    TmpfsWalk walk = TmpfsWalk::not_yet;
    std::optional<std::int64_t> walked_ms;  // last walk or attempt
    std::optional<TmpfsUsage> room_at_walk;
    std::int64_t walk_us = 0;  // CPU time of the last walk
    std::int64_t seen_ms = 0;  // time of the first observation
    bool complained = false;
    bool killed_near = false;  // it may be the cause of an OOM kill since the last walk
  };

  void update(Place& place, std::int64_t now_ms);
  static bool is_urgent(const Place& place);
  bool is_due(const Place& place, std::int64_t now_ms) const;
  std::int64_t earned_us(std::int64_t now_ms) const;
  const Place* next_place(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) const;

  std::int64_t interval_ms_;
  std::int64_t credit_us_ = kMaxCreditUs;
  std::int64_t credit_ms_ = 0;
  std::vector<Place> places_;  // sorted by mount point
  bool changed_ = false;

  static constexpr std::int64_t kMaxCreditUs = 500'000;
};

}  // namespace memoir
