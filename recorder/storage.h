#pragma once

// The storing stage: a thread of its own that takes work from a bounded queue and gives it to the store's writer. A
// slow or full disk never holds up sampling: what fails is tried again, later and later, while ticks wait in the queue.
// What the store refuses (ErrorKind::refused) would fail again, and is dropped at once. What had to be dropped is
// recorded as an event once the store works again. Exceptions count as failures. Between ticks, when none waits, the
// store is maintained: rollups, retention. Calls come from the sampling thread.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "recorder/work_queue.h"
#include "store/writer.h"

namespace memoir {

struct StorageOptions {
  QueueLimits queue;
  std::chrono::milliseconds first_retry{500};  // doubled after each failure
  std::chrono::milliseconds last_retry{30'000};
  std::chrono::milliseconds finish_within{5'000};
  std::chrono::milliseconds maintenance_retry{60'000};  // after one that failed
  int ticks_without_maintenance =
      10;  // while ticks wait, no more of them in a row: what is written must be cleared away
};

struct StorageCounts {
  std::int64_t stored = 0;   // ticks
  std::int64_t dropped = 0;  // ticks
  std::int64_t waiting = 0;  // ticks in the queue
  std::int64_t last_ms = 0;  // of the last tick that was stored, on the boot clock
};

enum class Finish {
  stored,     // everything
  lost,       // not everything; what was lost is in the log
  abandoned,  // likewise, and a write still hangs: the process can only be left by _exit
};

class Storage {
 public:
  // `on_answer` is called on the storing thread after each tick that was stored, and each failure.
  Storage(std::unique_ptr<Writer> writer, const Clock& clock, StorageOptions options, std::function<void()> on_answer);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void push(WorkItem item);

  StorageCounts counts() const;
  bool run_end_waiting() const;

  // For how long the writer has been at one piece of work; 0 if it is not.
  std::int64_t busy_ms() const;

  // Stores what waits, for a bounded time. Nothing may be pushed any more.
  Finish finish();

 private:
  struct State;
  // Shared with the thread, which outlives this object if a write hangs for good.
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace memoir
