#pragma once

// Runs reads that may block on their target (smaps_rollup and cmdline wait for its mmap_lock, a user's name for LDAP)
// on a worker thread, a tick's worth at a time. The caller waits, but for no job longer than the deadline: one that
// overstays is held: its worker is abandoned with it, and a fresh worker goes on with the rest. The abandoned one lets
// go of the job when the kernel lets go of it, and ends. Whose reads are slow or stuck is bounded per user
// (read_budget.h), and comes after the others. Owned and called by one thread; destruction does not wait for abandoned
// workers.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "collect/worker/read_budget.h"
#include "model/tick.h"

namespace memoir {

struct BlockingBatch;

// One read. Everything that run() touches belongs to the job, for it may outlive all else.
class BlockingJob {
 public:
  explicit BlockingJob(CostKind kind) : kind_(kind) {}
  virtual ~BlockingJob() = default;
  BlockingJob(const BlockingJob&) = delete;
  BlockingJob& operator=(const BlockingJob&) = delete;

  virtual void run(Buffer& buffer) = 0;

  CostKind kind() const { return kind_; }
  // The uid of the process that is read.
  std::uint32_t owner() const { return owner_; }
  void set_owner(std::uint32_t uid) { owner_ = uid; }
  // A stuck worker has it: only this may be asked until it is false again.
  bool held() const { return held_.load(std::memory_order_acquire); }
  // It came to its end when it was run last.
  bool done() const { return done_; }
  // What that took; only if done().
  const Cost& used() const { return *used_; }

 private:
  friend class BlockingReader;
  friend struct BlockingBatch;

  // A rollup walks all page tables of a process: what it takes is known from the last time.
  bool likely_fast() const { return kind_ != CostKind::rollup || (used_ && used_->cpu_us < ReadBudget::kSlowUs); }
  // The longer it has waited, the earlier it comes among its owner's.
  std::int64_t rank_us() const {
    const std::int64_t us = used_ ? std::max(charged_.cpu_us, charged_.wall_us) : ReadBudget::kSlowUs / 5;
    return us / (1 + passed_over_);
  }

  const CostKind kind_;
  std::uint32_t owner_ = ReadBudget::kNoOwner;
  std::atomic<bool> held_{false};
  std::optional<Cost> used_;  // by the last run; the worker's while it has the job, like what follows
  Cost charged_;              // to the owner
  bool ran_ = false;          // in this batch
  bool done_ = false;         // the caller's alone, like what follows
  int passed_over_ = 0;       // batches that it was given to and not run in, one after the other
};

class BlockingReader {
 public:
  explicit BlockingReader(std::chrono::milliseconds deadline);
  ~BlockingReader();
  BlockingReader(const BlockingReader&) = delete;
  BlockingReader& operator=(const BlockingReader&) = delete;

  // A tick begins: of its time, a new budget.
  void begin(std::int64_t now_us) { budget_.begin(now_us); }

  // Runs the jobs, none of which may be held, in order but for those of users whose reads were slow; afterwards each is
  // done(), or held(), or neither: not run, for the budget did not allow it. Adds what the workers used to `cost`, and
  // returns their CPU time in µs.
  std::int64_t run(std::vector<std::shared_ptr<BlockingJob>> jobs, TickCost& cost);

  // Abandoned workers that are still stuck.
  int stuck() const;

 private:
  struct Channel;
  using Jobs = std::vector<std::shared_ptr<BlockingJob>>;
  using Stuck = std::pair<std::uint32_t, std::shared_ptr<BlockingJob>>;  // with its owner

  bool start_worker();
  void take_back();
  void order(Jobs& jobs) const;
  std::int64_t finish(BlockingBatch& batch, std::size_t end, TickCost& cost);

  const std::chrono::milliseconds deadline_;
  ReadBudget budget_;
  std::vector<Stuck> stuck_jobs_;     // with the abandoned workers
  std::shared_ptr<Channel> channel_;  // to the worker, shared with it
  std::thread worker_;
};

}  // namespace memoir
