#pragma once

// Runs reads that may block on their target, a tick's worth at a time on a worker thread. For example, reads of
// smaps_rollup and cmdline wait for the target's mmap_lock, and the lookup of a user's name may wait for LDAP. The
// caller waits for no read longer than the deadline. A job that exceeds it is stuck: its worker is abandoned with it,
// and a new worker continues with the remaining jobs. When the kernel returns, the abandoned worker releases the job
// and ends. Slow or stuck reads are limited per user (read_budget.h), and run after the others. One thread owns and
// calls this class; destruction does not wait for abandoned workers.

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

// One read, or several of one kind. Everything that run() uses belongs to the job, because a stuck job may outlive
// everything else.
class BlockingJob {
 public:
  explicit BlockingJob(CostKind kind) : kind_(kind) {}
  virtual ~BlockingJob() = default;
  BlockingJob(const BlockingJob&) = delete;
  BlockingJob& operator=(const BlockingJob&) = delete;

  virtual void run(Buffer& buffer) = 0;

  CostKind kind() const { return kind_; }
  // Returns the uid of the process that the job reads.
  std::uint32_t owner() const { return owner_; }
  void set_owner(std::uint32_t uid) { owner_ = uid; }
  // Returns whether a stuck worker still has the job. Until it returns false, only functions that permit this may be
  // called. May be called by run() as well.
  bool is_stuck() const { return stuck_.load(std::memory_order_acquire); }
  // Returns whether the last run completed.
  bool done() const { return done_; }
  // Returns the cost of the last run; call it only if done().
  const Cost& used() const { return *used_; }

 protected:
  // Called by run() before each of several reads: the deadline applies to each.
  void note_progress() { progress_.fetch_add(1, std::memory_order_relaxed); }

 private:
  friend class BlockingReader;
  friend struct BlockingBatch;

  // Returns whether the job belongs to root, or to no user.
  bool has_priority() const { return owner_ == 0 || owner_ == ReadBudget::kNoOwner; }
  // A rollup walks all page tables of a process, so its duration is known only from the previous run.
  bool likely_fast() const { return kind_ != CostKind::rollup || (used_ && used_->cpu_us < ReadBudget::kSlowUs); }
  // Returns the expected duration, reduced by waiting, so that a job that has waited runs earlier among the jobs of its
  // owner.
  std::int64_t rank_us() const {
    const std::int64_t us = used_ ? std::max(charged_.cpu_us, charged_.wall_us) : ReadBudget::kSlowUs / 5;
    return us / (1 + passed_over_);
  }

  const CostKind kind_;
  std::uint32_t owner_ = ReadBudget::kNoOwner;
  std::atomic<bool> stuck_{false};
  std::atomic<std::uint64_t> progress_{0};
  // Cost of the last run. While the worker has the job, it owns used_, charged_ and ran_.
  std::optional<Cost> used_;
  Cost charged_;         // cost to be charged to the owner
  bool ran_ = false;     // whether it was run in this batch
  bool done_ = false;    // only the caller uses this member and the next one
  int passed_over_ = 0;  // consecutive batches in which it was not run
};

class BlockingReader {
 public:
  explicit BlockingReader(std::chrono::milliseconds deadline);
  ~BlockingReader();
  BlockingReader(const BlockingReader&) = delete;
  BlockingReader& operator=(const BlockingReader&) = delete;

  // Starts a tick with a new time budget.
  void begin(std::int64_t now_us) {
    budget_.begin(now_us);
    cpu_of_owners_.clear();
  }

  // Runs the jobs, none of which may be stuck. Root's jobs run first, and those of users with slow reads last.
  // Afterwards each job is done() or is_stuck(), or was not run because of the budget. Adds the cost of the workers to
  // `cost`, including that of abandoned workers that have returned. Returns their CPU time in µs.
  std::int64_t run(std::vector<std::shared_ptr<BlockingJob>> jobs, TickCost& cost);

  // Returns the CPU time in µs since begin(), by the owner of the jobs.
  const std::map<std::uint32_t, std::int64_t>& cpu_of_owners() const { return cpu_of_owners_; }

  // Returns the number of abandoned workers that are still stuck.
  int stuck() const;

 private:
  struct Channel;
  using Jobs = std::vector<std::shared_ptr<BlockingJob>>;
  using Stuck = std::pair<std::uint32_t, std::shared_ptr<BlockingJob>>;  // the job's owner, and the job

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
  std::vector<Stuck> stuck_jobs_;     // jobs of the abandoned workers
  std::shared_ptr<Channel> channel_;  // shared with the worker
  std::thread worker_;
};

// Drops jobs that are no longer stuck.
template <typename Job>
void forget_returned(std::vector<std::shared_ptr<Job>>& stuck) {
  std::erase_if(stuck, [](const std::shared_ptr<Job>& job) { return !job->is_stuck(); });
}

}  // namespace memoir
