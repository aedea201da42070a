#pragma once

// The storing stage: a separate thread that takes work from a bounded queue and passes it to the store's writer. A slow
// or full disk never delays sampling: failed work is retried at growing intervals, while ticks wait in the queue. Work
// that the store refuses (ErrorKind::refused) would fail again, and is dropped at once. Dropped work is recorded as an
// event when the store works again. Exceptions count as failures. When no tick waits, the store is maintained: rollups,
// retention. Calls come from the sampling thread.

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
  std::chrono::milliseconds maintenance_retry{60'000};  // delay after a failed maintenance
  std::chrono::milliseconds first_maintenance{0};       // delay of the first maintenance after the start
  // Maintenance is due after this number of ticks even while more wait, because old data must be removed.
  int ticks_without_maintenance = 10;
};

struct StorageCounts {
  std::int64_t stored = 0;   // number of stored ticks
  std::int64_t dropped = 0;  // number of dropped ticks
  std::int64_t waiting = 0;  // number of ticks in the queue
  std::int64_t last_ms = 0;  // boot clock, time of the last stored tick
};

enum class Finish {
  stored,     // everything was stored
  lost,       // some work was lost; the log lists the losses
  abandoned,  // as `lost`, and a write still hangs: the process must end by _exit()
};

class Storage {
 public:
  // `on_answer` is called on the storing thread after each stored tick, and each failure.
  Storage(std::unique_ptr<Writer> writer, const Clock& clock, StorageOptions options, std::function<void()> on_answer);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void push(WorkItem item);

  StorageCounts counts() const;
  bool run_end_waiting() const;

  // Returns how long the writer has been doing the current piece of work, in ms; 0 if idle.
  std::int64_t busy_ms() const;

  // Stores the waiting work, for a limited time. Push nothing afterwards.
  Finish finish();

 private:
  struct State;
  // Shared with the thread, which outlives this object if a write hangs permanently.
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace memoir
