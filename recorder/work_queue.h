#pragma once

// What waits to be stored, in order: ticks, events, and where a run begins and ends. Bounded in number and in bytes, so
// that it stays small however long the store is out of order: each tick is kept as the difference to the one before it
// and rebuilt when it is taken. When there is too much, the oldest tick is dropped; the births and exits that it alone
// knew of move to the tick after it, else later samples would belong to processes that the store has never heard of. Of
// the processes that only dropped ticks saw, and of the events, the newest are kept. Pure; the owner locks.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "model/tick.h"
#include "recorder/sample_delta.h"
#include "store/writer.h"

namespace memoir {

struct RunEnd {
  Moment at;
  std::string reason;
};

using WorkItem = std::variant<RunInfo, Tick, Event, RunEnd>;

// What was dropped since the store last heard of it.
struct Lost {
  std::int64_t ticks = 0;
  std::int64_t first_ms = 0;  // of the ticks
  std::int64_t last_ms = 0;
  std::int64_t processes = 0;  // born and gone in them, and not kept
  std::int64_t events = 0;

  bool any() const { return ticks > 0 || events > 0; }
};

struct QueueLimits {
  std::size_t ticks = 360;         // at least 1
  std::size_t bytes = 32U << 20U;  // of the ticks; one is kept whatever its size
  std::size_t events = 1000;
};

class WorkQueue {
 public:
  static constexpr std::size_t kMostEnded = 1000;  // processes that only dropped ticks saw

  explicit WorkQueue(QueueLimits limits) : limits_(limits) {}

  void push(WorkItem item);
  // The oldest; nothing if there is none.
  std::optional<WorkItem> take();
  // What could not be stored goes back to the front, and is the first to be dropped.
  void put_back(WorkItem item);

  bool empty() const { return items_.empty(); }
  std::size_t ticks() const { return ticks_; }
  // What the ticks take up, but for the up to two states that they are rebuilt from.
  std::size_t bytes() const { return bytes_; }
  // Whether the end of a run waits here.
  bool has_run_end() const;

  const Lost& lost() const { return lost_; }
  void clear_lost() { lost_ = {}; }

 private:
  struct Item {
    WorkItem work;  // of a tick all but its processes; what follows is of a tick alone
    SampleDelta samples{};
    bool whole = false;  // `samples` is the difference to nothing
    std::size_t bytes = 0;
  };
  using Items = std::deque<Item>;

  static bool is_tick(const Item& item) { return std::holds_alternative<Tick>(item.work); }
  static bool is_event(const Item& item) { return std::holds_alternative<Event>(item.work); }
  static void pack_whole(Tick& tick, Item& item);
  void pack_after_newest(Tick& tick, Item& item);
  void make_oldest_whole();
  void add(const Items::iterator& place, Item item);
  // `place` is the oldest tick; it is taken out.
  Tick take_tick(const Items::iterator& place);
  void keep_limits();
  void drop_oldest_tick();
  void measure(Item& waiting);

  const QueueLimits limits_;
  Items items_;
  std::size_t ticks_ = 0;
  std::size_t bytes_ = 0;
  std::size_t events_ = 0;
  Samples before_;  // of the tick taken last, if the oldest waiting one is not whole
  Samples newest_;  // of the newest, if it is not whole
  Lost lost_;
};

// `next` takes over from `dropped`, the tick before it, what only that knew.
void merge_dropped(Tick&& dropped, Tick& next);

// Takes out the oldest of those that are born and gone in this tick, until there are at most `most`; how many.
std::int64_t forget_ended(Tick& tick, std::size_t most);

}  // namespace memoir
