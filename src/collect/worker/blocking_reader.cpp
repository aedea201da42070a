#include "collect/worker/blocking_reader.h"

#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <sys/resource.h>
#include <system_error>

#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

// A worker that read something huge once does not keep the space forever.
constexpr std::size_t kKeptBuffer = 256 * 1024;

// Whether the calling thread had to wait for something else than a processor since it was asked last.
class Waits {
 public:
  bool began() {
    const long now = count();
    return std::exchange(count_, now) != now;
  }

 private:
  static long count() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  }
  long count_ = count();
};

}  // namespace

// Shared by the caller and the worker. `at` is the job that the worker is at; the caller takes the rest away from it by
// adding kAbandoned, which the worker finds when it comes back.
struct BlockingBatch {
  static constexpr std::uint64_t kAbandoned = std::uint64_t{1} << 32U;

  std::vector<std::shared_ptr<BlockingJob>> jobs;
  std::atomic<std::uint64_t> at{0};
  ReadBudget budget;  // at its begin

  // On the worker. False: abandoned, and nothing of the batch may be touched any more.
  bool run(Buffer& buffer);
  // On the caller: takes the jobs from `job` on away from the worker, unless it has just finished that one.
  bool abandon(std::uint64_t job);
};

bool BlockingBatch::run(Buffer& buffer) {
  // A copy: the caller keeps the account.
  ReadBudget left = budget;
  CostSpan span;
  Waits waits;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    BlockingJob& job = *jobs[i];
    job.ran_ = left.allows(job.owner(), job.likely_fast());
    if (job.ran_) {
      try {
        job.run(buffer);
      } catch (const std::exception&) {
        // Out of memory: the job's outcome stays what it was before, a failure.
      }
      Cost used;
      span.add_to(used);
      job.used_ = used;
      job.charged_ = used;
      // Who only had to wait for a processor did not hold up anything.
      if (used.wall_us >= ReadBudget::kSlowUs && !waits.began()) job.charged_.wall_us = used.cpu_us;
      left.charge(job.owner(), job.charged_);
    }
    std::uint64_t expected = i;
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

struct BlockingReader::Channel {
  std::mutex mutex;
  std::condition_variable submitted;
  std::condition_variable finished;
  std::shared_ptr<BlockingBatch> batch;  // set by the caller, taken away by the worker when it has finished
  bool stop = false;

  void work();
  std::optional<std::size_t> wait(const std::shared_ptr<BlockingBatch>& given, std::chrono::milliseconds deadline);
};

void BlockingReader::Channel::work() {
  Buffer buffer;
  while (true) {
    std::shared_ptr<BlockingBatch> given;
    {
      std::unique_lock lock(mutex);
      submitted.wait(lock, [&] { return stop || batch != nullptr; });
      if (stop) return;
      given = batch;
    }
    if (!given->run(buffer)) return;
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

BlockingReader::BlockingReader(std::chrono::milliseconds deadline) : deadline_(deadline) {}

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
  if (!budget_.worker_allowed()) return false;
  channel_ = std::make_shared<Channel>();
  // Signals are for the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    worker_ = std::thread([channel = channel_] { channel->work(); });
  } catch (const std::system_error&) {
    // No thread to be had now: the jobs stay undone, and the next tick tries again.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return worker_.joinable();
}

// Jobs that came back from the kernel are charged to their owners.
void BlockingReader::take_back() {
  std::erase_if(stuck_jobs_, [this](const Stuck& stuck) {
    const auto& [owner, job] = stuck;
    if (job->held()) return false;
    budget_.came_back(owner);
    budget_.charge(owner, {.cpu_us = job->used_ ? job->used_->cpu_us : 0, .wall_us = 0});
    return true;
  });
}

// Those come first whose owners' reads were fast; among an owner's, those that were.
void BlockingReader::order(Jobs& jobs) const {
  if (!budget_.any_slow()) return;
  using Key = std::pair<std::int64_t, std::int64_t>;
  std::vector<std::pair<Key, std::shared_ptr<BlockingJob>>> keyed;
  keyed.reserve(jobs.size());
  for (auto& job : jobs) {
    const std::int64_t slow_us = budget_.slow_us(job->owner());
    keyed.emplace_back(Key{slow_us, slow_us > 0 ? job->rank_us() : 0}, std::move(job));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(keyed.begin(), keyed.end(), jobs.begin(), [](auto& item) { return std::move(item.second); });
}

// Takes over what came of the jobs before `end`.
std::int64_t BlockingReader::finish(BlockingBatch& batch, std::size_t end, TickCost& cost) {
  std::int64_t cpu_us = 0;
  for (std::size_t i = 0; i < end; ++i) {
    BlockingJob& job = *batch.jobs[i];
    job.done_ = job.ran_;
    job.passed_over_ = job.ran_ ? 0 : job.passed_over_ + 1;
    if (!job.ran_) continue;
    budget_.charge(job.owner(), job.charged_);
    Cost& sum = cost[static_cast<std::size_t>(job.kind())];
    sum.cpu_us += job.used_->cpu_us;
    sum.wall_us += job.used_->wall_us;
    cpu_us += job.used_->cpu_us;
  }
  return cpu_us;
}

std::int64_t BlockingReader::run(Jobs jobs, TickCost& cost) {
  take_back();
  for (const auto& job : jobs) job->done_ = false;
  order(jobs);
  std::int64_t cpu_us = 0;
  while (!jobs.empty() && start_worker()) {
    const auto batch = std::make_shared<BlockingBatch>();
    batch->jobs = std::move(jobs);
    batch->budget = budget_;
    jobs = {};
    {
      const std::lock_guard lock(channel_->mutex);
      channel_->batch = batch;
    }
    channel_->submitted.notify_one();
    const auto held = channel_->wait(batch, deadline_);
    cpu_us += finish(*batch, held.value_or(batch->jobs.size()), cost);
    if (!held) break;
    worker_.detach();
    const auto stuck = batch->jobs.begin() + static_cast<std::ptrdiff_t>(*held);
    const std::uint32_t owner = (*stuck)->owner();
    stuck_jobs_.emplace_back(owner, *stuck);
    budget_.stuck(owner);
    budget_.charge(owner, {.cpu_us = 0, .wall_us = deadline_ / std::chrono::microseconds(1)});
    jobs.assign(stuck + 1, batch->jobs.end());
  }
  return cpu_us;
}

int BlockingReader::stuck() const {
  return static_cast<int>(
      std::count_if(stuck_jobs_.begin(), stuck_jobs_.end(), [](const Stuck& stuck) { return stuck.second->held(); }));
}

}  // namespace memoir
