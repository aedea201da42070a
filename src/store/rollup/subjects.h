#pragma once

// The subjects of a pass while their values move: processes, and the groups that they are members of. Pure but for the
// row of a process, which says what groups it belongs to.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
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
// Of each kind of subject and id, in order of time.
using MemoryPieces = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<MemoryPiece>>;

class RollupSubjects {
 public:
  // Processes that did not live so long have no buckets of their own.
  RollupSubjects(SQLite::Database& database, std::int64_t least_life_ms);

  // Within a tick: what changed of which process, and who is not there any more.
  void set_hot(std::int64_t process_id, const ProcessMemory& memory, bool exact);
  void set_cold(std::int64_t process_id, const ProcessMemory& memory);
  void end(std::int64_t process_id);

  // Between the tick before and this one; of what has rollups.
  void touch(SubjectKind kind, const ExtremeRow& seen);

  // Ticks come in their order. Between begin_tick and end_tick stand their changes; a keyframe names everybody who
  // lives.
  void begin_tick(std::int64_t tick_id, std::int64_t at_ms, bool keyframe);
  void end_tick();
  // What was seen last held until then.
  void hold_until(std::int64_t until_ms);
  // Nothing is known of the time until then. What lives at the tick there is seen by see_all, after the tick's changes.
  void go_on_at(std::int64_t at_ms);
  void see_all();
  // After the first tick, at which what holds there is put together: no time passes until then, and nothing is counted.
  void begin() { priming_ = false; }

  // Ends all timelines. How long each subject had lived by then stands in its pieces.
  MemoryPieces finish(std::int64_t end_ms, std::int64_t end_tick_id);

 private:
  struct Group {
    Group(SubjectKind kind, std::int64_t group_id, std::int64_t first)
        : subject(kind), id(group_id), first_ms(first), line(static_cast<std::int64_t>(kind), group_id) {}
    SubjectKind subject;
    std::int64_t id;
    std::int64_t first_ms;
    Timeline<kRollupMetrics> line;
    std::array<Level, kRollupMetrics> sums{};
    std::array<std::int64_t, kRollupMetrics> known{};
    std::int64_t members = 0;
    bool touched = false;
  };
  struct Member {
    explicit Member(std::int64_t process_id) : line(static_cast<std::int64_t>(SubjectKind::process), process_id) {}
    // It ended at this tick or before.
    bool is_gone(std::int64_t tick_id) const { return gone_tick_id != 0 && gone_tick_id <= tick_id; }
    std::int64_t lived_ms(std::int64_t until_ms) const { return std::max<std::int64_t>(until_ms - start_ms, 0); }

    Timeline<kRollupMetrics> line;
    MemoryValues values{};
    std::array<Group*, kGroupKinds.size()> groups{};
    std::int64_t start_ms = 0;
    std::int64_t gone_tick_id = 0;  // 0: it lives
    std::int64_t last_ms = 0;
    bool live = false;
    bool touched = false;
    bool named = false;  // by the keyframe
  };
  using GroupKey = std::pair<SubjectKind, std::int64_t>;

  Member& member(std::int64_t process_id);
  Group& group(SubjectKind subject, std::int64_t id, std::int64_t first_ms);
  template <typename Do>
  void each_line(const Do& act);
  void touch(Member& member);
  void leave(Member& member);
  void end_members();
  void keep(Timeline<kRollupMetrics>& line, std::int64_t lived_ms);
  void count(const Member& member, int sign);

  const std::int64_t least_life_ms_;
  MemoryPieces pieces_;  // of who ended, so far
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
