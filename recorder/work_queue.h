#pragma once

// The work waiting to be stored, in order: ticks, events, and starts and ends of runs. Limited in number and in bytes,
// so that it stays small during a long failure of the store. Each tick is kept as the difference from the previous one
// and rebuilt when it is taken. If there is too much, the oldest tick is dropped; its starts and exits move to the next
// tick, because otherwise later samples would belong to processes unknown to the store. The numbers of events, and of
// processes observed only in dropped ticks, are limited too: the oldest are dropped. Pure; the owner locks.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/tick.h"
#include "store/writer.h"

namespace memoir {

struct RunEnd {
  Moment at;
  std::string reason;
};

using WorkItem = std::variant<RunInfo, Tick, Event, RunEnd>;

// Work dropped since the last report to the store.
struct DroppedWork {
  std::int64_t ticks = 0;
  std::int64_t first_ms = 0;  // wall clock, time of the first dropped tick
  std::int64_t last_ms = 0;
  std::int64_t processes = 0;  // number of forgotten processes, which only dropped ticks observed
  std::int64_t events = 0;

  bool any() const { return ticks > 0 || events > 0; }
};

struct QueueLimits {
  std::size_t ticks = 360;         // maximum number of waiting ticks, at least 1
  std::size_t bytes = 32U << 20U;  // limit for all ticks together; one tick is kept regardless of its size
  std::size_t events = 1000;
};

// Sorted by process key, like Tick::processes.
using Samples = std::vector<ProcessSample>;

// The samples of a tick as the difference from the previous tick's samples: most processes do not change in between.
struct SampleDelta {
  Samples changed{};               // samples that are new or changed
  std::vector<ProcessKey> held{};  // unchanged, but with the source `held` now
  std::vector<ProcessKey> gone{};

  std::size_t bytes() const {
    return changed.capacity() * sizeof(ProcessSample) + (held.capacity() + gone.capacity()) * sizeof(ProcessKey);
  }
};

class WorkQueue {
 public:
  static constexpr std::size_t kMaxExits = 1000;  // maximum number of kept processes that only dropped ticks observed

  explicit WorkQueue(QueueLimits limits) : limits_(limits) {}

  void push(WorkItem item);
  // Removes and returns the oldest work; nullopt if the queue is empty.
  std::optional<WorkItem> take();
  // Returns work that was not stored to the front of the queue, where it is the first to be dropped.
  void put_back(WorkItem item);

  bool empty() const { return items_.empty(); }
  std::size_t ticks() const { return ticks_; }
  // Bytes of the waiting ticks, without before_ and newest_.
  std::size_t bytes() const { return bytes_; }
  // Returns whether the queue contains the end of a run.
  bool has_run_end() const;

  const DroppedWork& lost() const { return lost_; }
  void clear_lost() { lost_ = {}; }

 private:
  struct Item {
    WorkItem work;  // for a tick everything except its processes; the following members are only for ticks
    SampleDelta samples{};
    bool whole = false;  // `samples` is complete instead of a difference
    std::size_t bytes = 0;
  };
  using Items = std::deque<Item>;

  static bool is_tick(const Item& item) { return std::holds_alternative<Tick>(item.work); }
  static bool is_event(const Item& item) { return std::holds_alternative<Event>(item.work); }
  static void pack_whole(Tick& tick, Item& item);
  void pack_after_newest(Tick& tick, Item& item);
  void make_oldest_whole();
  void add(const Items::iterator& place, Item item);
  // Removes and returns the oldest tick, which is at `place`.
  Tick take_tick(const Items::iterator& place);
  void keep_limits();
  void drop_oldest_tick();
  void measure(Item& waiting);

  const QueueLimits limits_;
  Items items_;
  std::size_t ticks_ = 0;
  std::size_t bytes_ = 0;
  std::size_t events_ = 0;
  Samples before_;  // samples of the tick taken last, if the oldest waiting tick is a difference from them
  Samples newest_;  // samples of the newest tick, if that is kept as a difference
  DroppedWork lost_;
};

// Adds to `next` the data that only the tick before it, `dropped`, has.
void merge_dropped(Tick&& dropped, Tick& next);

// Removes the oldest processes that started and exited within this tick, until there are at most `most`. Returns their
// number.
std::int64_t forget_exited(Tick& tick, std::size_t most);

}  // namespace memoir
