#pragma once

// The subjects of a pass while their values change: processes, and their groups. Pure except for reading a process's
// row, which contains its groups.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/process.h"
#include "store/replay/extremes.h"
#include "store/rollup/timeline.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

using MemoryValues = RollupValues<kRollupMetrics>;
using MemoryPiece = Piece<kRollupMetrics>;
// Pieces by subject kind and id, in time order.
using MemoryPieces = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<MemoryPiece>>;

// The tick up to which lifetimes are counted for processes that have not exited before it.
struct LifetimeEnd {
  std::int64_t end_tick_id = 0;
  std::int64_t end_ms = 0;
};

class RollupSubjects {
 public:
  // Processes that have run for less than `min_life_ms` at `end` have no buckets of their own. With `only`, only
  // subjects of that kind have buckets.
  RollupSubjects(SQLite::Database& database, std::int64_t min_life_ms, const LifetimeEnd& end,
                 std::optional<SubjectKind> only = std::nullopt);

  // Returns the memory that the subjects use.
  std::int64_t bytes() const;

  // Call them within a tick, for each changed and each absent process.
  void set_hot(std::int64_t process_id, const ProcessMemory& memory, bool exact);
  void set_cold(std::int64_t process_id, const ProcessMemory& memory);
  void end(std::int64_t process_id);

  // Adds an extreme between the previous tick and this one, for subjects with rollups.
  void touch(SubjectKind kind, const ExtremeRow& seen);

  // Ticks come in order, their changes between begin_tick and end_tick; a keyframe has every live process.
  void begin_tick(std::int64_t tick_id, std::int64_t at_ms, bool keyframe);
  void end_tick();
  // Extends the last values up to this time.
  void hold_until(std::int64_t until_ms);
  // Continues at this tick after unknown time. Call see_all() after the changes of the tick, to observe all processes.
  void go_on_at(std::int64_t at_ms);
  void see_all();
  // Call it after the first tick, which establishes the initial state. Before this call no time passes, and nothing is
  // counted.
  void begin() { priming_ = false; }

  // Ends all timelines. Their pieces have the lifetime of each subject, up to `end` or, without it, up to the end given
  // to the constructor.
  MemoryPieces finish(std::optional<LifetimeEnd> end);

 private:
  struct Group {
    Group(SubjectKind kind, std::int64_t id, std::int64_t first, std::int64_t* pieces)
        : first_ms(first), line(static_cast<std::int64_t>(kind), id, pieces) {}
    std::int64_t first_ms;
    Timeline<kRollupMetrics> line;
    std::array<Level, kRollupMetrics> sums{};
    std::array<std::int64_t, kRollupMetrics> known{};
    std::int64_t members = 0;
    std::int64_t processes = 0;  // number of processes that refer to it
    bool touched = false;
  };
  struct Member {
    // Returns whether it exited at this tick or before.
    bool is_gone(std::int64_t tick_id) const { return exited_tick_id != 0 && exited_tick_id <= tick_id; }
    std::int64_t lived_ms(const LifetimeEnd& end) const {
      return std::max<std::int64_t>((is_gone(end.end_tick_id) ? last_ms : end.end_ms) - start_ms, 0);
    }

    std::int64_t id = 0;
    std::unique_ptr<Timeline<kRollupMetrics>> line;  // nullptr: it has not run long enough
    MemoryValues values{};
    std::array<Group*, kGroupKinds.size()> groups{};
    std::int64_t start_ms = 0;
    std::int64_t exited_tick_id = 0;  // 0: it is running
    std::int64_t last_ms = 0;
    bool live = false;
    bool touched = false;
    bool named = false;  // whether the keyframe has a row of it
  };
  using GroupKey = std::pair<SubjectKind, std::int64_t>;

  Member& member(std::int64_t process_id);
  Group& group(SubjectKind subject, std::int64_t id, std::int64_t first_ms);
  template <typename Do>
  void each_line(const Do& act);
  void touch(Member& member);
  void leave(Member& member);
  void end_members();
  void leave_groups(const Member& member);
  void keep(Timeline<kRollupMetrics>& line, std::int64_t lived_ms);
  void count(const Member& member, int sign);

  bool wants(SubjectKind kind) const { return !only_ || *only_ == kind; }

  const std::int64_t min_life_ms_;
  const std::optional<SubjectKind> only_;
  LifetimeEnd lifetime_end_;
  std::int64_t lines_ = 0;  // number of timelines of members
  std::int64_t made_ = 0;   // number of pieces in all timelines
  MemoryPieces pieces_;     // pieces of the subjects that have exited so far
  Statement row_;
  std::unordered_map<std::int64_t, Member> members_;
  std::map<GroupKey, Group> groups_;
  std::vector<Member*> touched_members_;
  std::vector<Group*> touched_groups_;
  std::int64_t tick_id_ = 0;
  std::int64_t at_ms_ = 0;
  bool keyframe_ = false;
  bool priming_ = true;
};

}  // namespace memoir
