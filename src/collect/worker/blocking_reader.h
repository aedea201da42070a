#pragma once

// Runs reads that may block on their target (smaps_rollup and cmdline wait for its mmap_lock, a user's name for LDAP)
// on a worker thread, a tick's worth at a time. The caller waits for no job longer than the deadline. A job that
// exceeds it is stuck: its worker is abandoned with it, and a new worker continues with the remainder. The abandoned
// worker releases the job when the kernel returns, and ends. Slow or stuck reads are limited per user (read_budget.h),
// and run after the others. Owned and called by one thread; destruction does not wait for abandoned workers.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
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

// One read. All that run() touches belongs to the job, because it may outlive everything else.
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
  // A stuck worker has the job: only this function may be called until it returns false.
  bool is_stuck() const { return stuck_.load(std::memory_order_acquire); }
  // The last run completed.
  bool done() const { return done_; }
  // Cost of that run; only if done().
  const Cost& used() const { return *used_; }

 private:
  friend class BlockingReader;
  friend struct BlockingBatch;

  // Belongs to root, or to no user.
  bool has_priority() const { return owner_ == 0 || owner_ == ReadBudget::kNoOwner; }
  // A rollup walks all page tables of a process: its duration is known from the last time.
  bool likely_fast() const { return kind_ != CostKind::rollup || (used_ && used_->cpu_us < ReadBudget::kSlowUs); }
  // The longer it has waited, the earlier it runs among its owner's jobs.
  std::int64_t rank_us() const {
    const std::int64_t us = used_ ? std::max(charged_.cpu_us, charged_.wall_us) : ReadBudget::kSlowUs / 5;
    return us / (1 + passed_over_);
  }

  const CostKind kind_;
  std::uint32_t owner_ = ReadBudget::kNoOwner;
  std::atomic<bool> stuck_{false};
  std::optional<Cost> used_;  // in the last run; the worker's while it has the job, like the following members
  Cost charged_;              // to the owner
  bool ran_ = false;          // in this batch
  bool done_ = false;         // only the caller's, like the following members
  int passed_over_ = 0;       // consecutive batches in which it was not run
};

class BlockingReader {
 public:
  explicit BlockingReader(std::chrono::milliseconds deadline);
  ~BlockingReader();
  BlockingReader(const BlockingReader&) = delete;
  BlockingReader& operator=(const BlockingReader&) = delete;

  // Starts a tick, with a new budget of its time.
  void begin(std::int64_t now_us) {
    budget_.begin(now_us);
    cpu_of_owners_.clear();
  }

  // Runs the jobs, none of which may be held: root's first, those of users with slow reads last. Afterwards each is
  // done() or is_stuck(), or was not run because of the budget. Adds the cost of the workers to `cost`, including
  // abandoned ones that returned, and returns their CPU time in µs.
  std::int64_t run(std::vector<std::shared_ptr<BlockingJob>> jobs, TickCost& cost);

  // CPU time in µs since begin(), by the owner of the jobs.
  const std::map<std::uint32_t, std::int64_t>& cpu_of_owners() const { return cpu_of_owners_; }

  // Abandoned workers that are still stuck.
  int stuck() const;

 private:
  struct Channel;
  using Jobs = std::vector<std::shared_ptr<BlockingJob>>;
  using Stuck = std::pair<std::uint32_t, std::shared_ptr<BlockingJob>>;  // with its owner

  void count_cpu(std::uint32_t owner, std::int64_t us) {
    if (owner != ReadBudget::kNoOwner) cpu_of_owners_[owner] += us;
  }
  bool start_worker();
  std::int64_t take_back(TickCost& cost);
  void order(Jobs& jobs) const;
  std::int64_t finish(BlockingBatch& batch, std::size_t end, TickCost& cost);

  const std::chrono::milliseconds deadline_;
  ReadBudget budget_;
  std::map<std::uint32_t, std::int64_t> cpu_of_owners_;
  std::vector<Stuck> stuck_jobs_;     // with the abandoned workers
  std::shared_ptr<Channel> channel_;  // to the worker, shared with it
  std::thread worker_;
};

}  // namespace memoir
