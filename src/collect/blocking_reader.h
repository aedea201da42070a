#pragma once

// Runs reads that may block on their target (smaps_rollup and cmdline wait for its mmap_lock, a user's name for LDAP)
// on a worker thread, a tick's worth at a time. The caller waits, but for no job longer than the deadline: one that
// overstays is held: its worker is abandoned with it, and a fresh worker goes on with the rest. The abandoned one lets
// go of the job when the kernel lets go of it, and ends. Owned and called by one thread; destruction does not wait for
// abandoned workers.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/file.h"
#include "model/tick.h"

namespace memoir {

// One read. Everything that run() touches belongs to the job, for it may outlive all else.
class BlockingJob {
 public:
  explicit BlockingJob(CostKind kind) : kind_(kind) {}
  virtual ~BlockingJob() = default;
  BlockingJob(const BlockingJob&) = delete;
  BlockingJob& operator=(const BlockingJob&) = delete;

  virtual void run(Buffer& buffer) = 0;

  CostKind kind() const { return kind_; }
  // A stuck worker has it: only this may be asked until it is false again.
  bool held() const { return held_.load(std::memory_order_acquire); }
  // It came to its end when it was run last.
  bool done() const { return done_; }

 private:
  friend class BlockingReader;
  friend struct BlockingBatch;

  const CostKind kind_;
  std::atomic<bool> held_{false};
  bool done_ = false;  // the caller's alone
};

class BlockingReader {
 public:
  static constexpr int kMaxStuck = 8;

  explicit BlockingReader(std::chrono::milliseconds deadline);
  ~BlockingReader();
  BlockingReader(const BlockingReader&) = delete;
  BlockingReader& operator=(const BlockingReader&) = delete;

  // Runs the jobs in order, none of which may be held; afterwards each is done(), or held(), or neither: not run, for
  // kMaxStuck workers are stuck. Adds what the workers used to `cost`, and returns their CPU time in µs.
  std::int64_t run(std::vector<std::shared_ptr<BlockingJob>> jobs, TickCost& cost);

  // Abandoned workers that are still stuck.
  int stuck() const { return stuck_->load(); }

 private:
  struct Channel;

  bool start_worker();

  const std::chrono::milliseconds deadline_;
  const std::shared_ptr<std::atomic<int>> stuck_;  // shared with the workers
  std::shared_ptr<Channel> channel_;               // to the worker, shared with it
  std::thread worker_;
};

}  // namespace memoir
