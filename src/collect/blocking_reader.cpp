#include "collect/blocking_reader.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <system_error>

#include "collect/cost_span.h"

namespace memoir {
namespace {

// A worker that read something huge once does not keep the space for ever.
constexpr std::size_t kKeptBuffer = 256 * 1024;

}  // namespace

// Shared by the caller and the worker. `at` is the job that the worker is at; the caller takes the rest away from it by
// adding kAbandoned, which the worker finds when it comes back.
struct BlockingBatch {
  static constexpr std::uint64_t kAbandoned = std::uint64_t{1} << 32U;

  std::vector<std::shared_ptr<BlockingJob>> jobs;
  std::atomic<std::uint64_t> at{0};
  TickCost cost{};  // the worker's until it has finished

  // On the worker. False: abandoned, and nothing of the batch may be touched any more.
  bool run(Buffer& buffer);
  // On the caller: takes the jobs from `job` on away from the worker, unless it has just finished that one.
  bool abandon(std::uint64_t job);
  void mark_done(std::size_t from, std::size_t end);
};

bool BlockingBatch::run(Buffer& buffer) {
  CostSpan span;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    BlockingJob& job = *jobs[i];
    try {
      job.run(buffer);
    } catch (const std::exception&) {
      // Out of memory: the job's outcome stays what it was before, a failure.
    }
    std::uint64_t expected = i;
    const bool last_of_kind = i + 1 == jobs.size() || jobs[i + 1]->kind() != job.kind();
    if (last_of_kind) {
      span.add_to(cost[static_cast<std::size_t>(job.kind())]);
    }
    if (!at.compare_exchange_strong(expected, i + 1)) {
      job.held_.store(false, std::memory_order_release);
      return false;
    }
  }
  return true;
}

bool BlockingBatch::abandon(std::uint64_t job) {
  BlockingJob& stuck = *jobs[job];
  stuck.held_.store(true);
  if (at.compare_exchange_strong(job, job | kAbandoned)) return true;
  stuck.held_.store(false);
  return false;
}

void BlockingBatch::mark_done(std::size_t from, std::size_t end) {
  for (std::size_t i = from; i < end; ++i) jobs[i]->done_ = true;
}

struct BlockingReader::Channel {
  std::mutex mutex;
  std::condition_variable submitted;
  std::condition_variable finished;
  std::shared_ptr<BlockingBatch> batch;  // set by the caller, taken away by the worker when it has finished
  bool stop = false;

  void work(std::atomic<int>& stuck);
  std::optional<std::size_t> wait(const std::shared_ptr<BlockingBatch>& given, std::chrono::milliseconds deadline);
};

void BlockingReader::Channel::work(std::atomic<int>& stuck) {
  Buffer buffer;
  while (true) {
    std::shared_ptr<BlockingBatch> given;
    {
      std::unique_lock lock(mutex);
      submitted.wait(lock, [&] { return stop || batch != nullptr; });
      if (stop) return;
      given = batch;
    }
    if (!given->run(buffer)) {
      given.reset();
      --stuck;
      return;
    }
    given.reset();
    if (buffer.size() > kKeptBuffer) buffer = Buffer();
    const std::lock_guard lock(mutex);
    batch.reset();
    finished.notify_one();
  }
}

// Waits until the worker has finished; or until a job overstays, then that job's index. The clock of a job starts when
// it is first seen to run, so that a batch costs no clock calls per job.
std::optional<std::size_t> BlockingReader::Channel::wait(const std::shared_ptr<BlockingBatch>& given,
                                                         std::chrono::milliseconds deadline) {
  using Steady = std::chrono::steady_clock;
  const auto glance = std::max<std::chrono::microseconds>(deadline / 8, std::chrono::microseconds(500));
  std::uint64_t running = given->at.load();
  auto since = Steady::now();
  std::unique_lock lock(mutex);
  while (batch != nullptr) {
    finished.wait_for(lock, glance);
    const std::uint64_t now_at = given->at.load();
    if (now_at != running) {
      running = now_at;
      since = Steady::now();
    } else if (running < given->jobs.size() && Steady::now() - since >= deadline && given->abandon(running)) {
      return running;
    }
  }
  return std::nullopt;
}

BlockingReader::BlockingReader(std::chrono::milliseconds deadline)
    : deadline_(deadline), stuck_(std::make_shared<std::atomic<int>>(0)) {}

BlockingReader::~BlockingReader() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(channel_->mutex);
    channel_->stop = true;
  }
  channel_->submitted.notify_one();
  worker_.join();  // it is idle: a stuck one was let go of when it was abandoned
}

bool BlockingReader::start_worker() {
  if (worker_.joinable()) return true;
  if (stuck() >= kMaxStuck) return false;
  channel_ = std::make_shared<Channel>();
  // Signals are for the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    worker_ = std::thread([channel = channel_, stuck = stuck_] { channel->work(*stuck); });
  } catch (const std::system_error&) {
    // No thread to be had now: the jobs stay undone, and the next tick tries again.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return worker_.joinable();
}

std::int64_t BlockingReader::run(std::vector<std::shared_ptr<BlockingJob>> jobs, TickCost& cost) {
  for (const auto& job : jobs) job->done_ = false;
  while (!jobs.empty() && start_worker()) {
    const auto batch = std::make_shared<BlockingBatch>();
    batch->jobs = std::move(jobs);
    jobs = {};
    {
      const std::lock_guard lock(channel_->mutex);
      channel_->batch = batch;
    }
    channel_->submitted.notify_one();
    const auto held = channel_->wait(batch, deadline_);
    if (!held) {
      batch->mark_done(0, batch->jobs.size());
      std::int64_t cpu_us = 0;
      for (std::size_t i = 0; i < cost.size(); ++i) {
        cost[i].cpu_us += batch->cost[i].cpu_us;
        cost[i].wall_us += batch->cost[i].wall_us;
        cpu_us += batch->cost[i].cpu_us;
      }
      return cpu_us;
    }
    ++*stuck_;
    worker_.detach();
    batch->mark_done(0, *held);
    jobs.assign(batch->jobs.begin() + static_cast<std::ptrdiff_t>(*held) + 1, batch->jobs.end());
  }
  return 0;
}

}  // namespace memoir
