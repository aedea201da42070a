#pragma once

// What waits to be stored, in order: ticks, events, and where a run begins and ends. Ticks are bounded in number. When
// there are too many, the oldest is dropped; the births and exits that it alone knew of move to the tick after it, else
// later samples would belong to processes that the store has never heard of. Of the processes that only dropped ticks
// saw the newest are kept, so that the queue stays small however long the store is out of order. Pure; the owner locks.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "model/tick.h"
#include "store/writer.h"

namespace memoir {

struct RunEnd {
  Moment at;
  std::string reason;
};

using WorkItem = std::variant<RunInfo, Tick, Event, RunEnd>;

// Ticks that were dropped since the store was last told.
struct LostTicks {
  std::int64_t count = 0;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::int64_t processes = 0;  // born and gone in them, and not kept
};

class WorkQueue {
 public:
  static constexpr std::size_t kMostEnded = 1000;  // processes that only dropped ticks saw

  explicit WorkQueue(std::size_t max_ticks) : max_ticks_(max_ticks) {}

  void push(WorkItem item);
  // The oldest; nothing if there is none.
  std::optional<WorkItem> take();
  // What could not be stored goes back to the front, and is the first to be dropped.
  void put_back(WorkItem item);

  bool empty() const { return items_.empty(); }
  std::size_t ticks() const { return ticks_; }
  // Whether the end of a run waits here.
  bool has_run_end() const;

  const LostTicks& lost() const { return lost_; }
  void clear_lost() { lost_ = {}; }

 private:
  void drop_oldest_tick();

  const std::size_t max_ticks_;
  std::deque<WorkItem> items_;
  std::size_t ticks_ = 0;
  LostTicks lost_;
};

// `next` takes over from `dropped`, the tick before it, what only that knew.
void merge_dropped(Tick&& dropped, Tick& next);

// Takes out the oldest of those that are born and gone in this tick, until there are at most `most`; how many.
std::int64_t forget_ended(Tick& tick, std::size_t most);

}  // namespace memoir
