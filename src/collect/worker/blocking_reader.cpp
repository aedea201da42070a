#include "collect/worker/blocking_reader.h"

#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <sys/resource.h>
#include <system_error>
#include <tuple>

#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

// Larger buffers are released after a batch, so that a worker does not keep the memory of one huge text forever.
constexpr std::size_t kKeptBuffer = 256 * 1024;

// Detects whether the calling thread waited for anything other than a processor since the last call.
class Waits {
 public:
  bool has_waited() {
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

// A batch of jobs, which the caller and the worker share. `at` is the worker's current job. The caller withdraws later
// jobs by adding kAbandoned, which the worker notices when its read returns.
struct BlockingBatch {
  static constexpr std::uint64_t kAbandoned = std::uint64_t{1} << 32U;

  std::vector<std::shared_ptr<BlockingJob>> jobs;
  std::atomic<std::uint64_t> at{0};
  ReadBudget budget;  // budget at the start of the batch

  // Called by the worker. Returns false if the batch was abandoned: the worker must not touch it any more.
  bool run(Buffer& buffer);
  // Called by the caller. Returns a number that changes when the job starts its next read.
  std::uint64_t progress(std::uint64_t job) const { return job < jobs.size() ? jobs[job]->progress_.load() : 0; }
  // Called by the caller. Withdraws `job` and all later jobs from the worker. Returns false if the worker has just
  // finished `job`.
  bool abandon(std::uint64_t job);
};

bool BlockingBatch::run(Buffer& buffer) {
  // Reads are charged to a copy here, because the caller charges the real budget.
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
        // Out of memory. The job keeps its outcome so far: a failure, or what it had read before.
      }
      Cost used;
      span.add_to(used);
      job.used_ = used;
      job.charged_ = used;
      // A job that only waited for a processor did not block.
      if (used.wall_us >= ReadBudget::kSlowUs && !waits.has_waited()) job.charged_.wall_us = used.cpu_us;
      left.charge(job.owner(), job.charged_);
    }
    std::uint64_t expected = i;
    if (!at.compare_exchange_strong(expected, i + 1)) {
      job.stuck_.store(false, std::memory_order_release);
      return false;
    }
  }
  return true;
}

bool BlockingBatch::abandon(std::uint64_t job) {
  BlockingJob& stuck = *jobs[job];
  stuck.stuck_.store(true);
  if (at.compare_exchange_strong(job, job | kAbandoned)) return true;
  stuck.stuck_.store(false);
  return false;
}

struct BlockingReader::Channel {
  std::mutex mutex;
  std::condition_variable submitted;
  std::condition_variable finished;
  std::shared_ptr<BlockingBatch> batch;  // set by the caller, cleared by the worker when it has finished
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

// Waits until the worker has finished. If a job exceeds the deadline, abandons it and returns its index. The time of a
// job, or of each of its reads, is counted from when it is first found running, so that it needs no clock call.
std::optional<std::size_t> BlockingReader::Channel::wait(const std::shared_ptr<BlockingBatch>& given,
                                                         std::chrono::milliseconds deadline) {
  using Steady = std::chrono::steady_clock;
  const auto pause = std::max<std::chrono::microseconds>(deadline / 8, std::chrono::microseconds(500));
  std::uint64_t running = given->at.load();
  std::uint64_t progress = given->progress(running);
  auto since = Steady::now();
  std::unique_lock lock(mutex);
  while (batch != nullptr) {
    finished.wait_for(lock, pause);
    const std::uint64_t now_at = given->at.load();
    const std::uint64_t now_progress = given->progress(now_at);
    if (now_at != running || now_progress != progress) {
      running = now_at;
      progress = now_progress;
      since = Steady::now();
    } else if (running < given->jobs.size() && Steady::now() - since >= deadline &&
               given->progress(running) == progress && given->abandon(running)) {
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
  worker_.join();  // the worker is idle, because a stuck one was detached when it was abandoned
}

bool BlockingReader::start_worker() {
  if (worker_.joinable()) return true;
  if (!budget_.worker_allowed()) return false;
  channel_ = std::make_shared<Channel>();
  // The main thread handles all signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    worker_ = std::thread([channel = channel_] { channel->work(); });
  } catch (const std::system_error&) {
    // No thread is available. The jobs are not run, and the next tick tries again.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return worker_.joinable();
}

// Takes stuck jobs that have returned from the kernel: charges their owners, and adds their CPU time to this tick.
// Returns that time in µs.
std::int64_t BlockingReader::take_back(TickCost& cost) {
  std::int64_t cpu_us = 0;
  std::erase_if(stuck_jobs_, [&](const Stuck& stuck) {
    const auto& [owner, job] = stuck;
    if (job->is_stuck()) return false;
    const std::int64_t used_us = job->used_ ? job->used_->cpu_us : 0;
    budget_.came_back(owner);
    budget_.charge(owner, {.cpu_us = used_us, .wall_us = 0});
    cost[static_cast<std::size_t>(job->kind())].cpu_us += used_us;
    cpu_us += used_us;
    count_cpu(owner, used_us);
    return true;
  });
  return cpu_us;
}

// Orders jobs: owners with fast reads come first, and root comes before other users. Fast jobs of an owner come before
// its slow ones.
void BlockingReader::order(Jobs& jobs) const {
  if (!budget_.any_slow()) {
    std::stable_partition(jobs.begin(), jobs.end(), [](const auto& job) { return job->has_priority(); });
    return;
  }
  using Key = std::tuple<std::int64_t, bool, std::int64_t>;
  std::vector<std::pair<Key, std::shared_ptr<BlockingJob>>> keyed;
  keyed.reserve(jobs.size());
  for (auto& job : jobs) {
    const std::int64_t slow_us = budget_.slow_us(job->owner());
    keyed.emplace_back(Key{slow_us, !job->has_priority(), slow_us > 0 ? job->rank_us() : 0}, std::move(job));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(keyed.begin(), keyed.end(), jobs.begin(), [](auto& item) { return std::move(item.second); });
}

// Takes the results of the jobs before `end`.
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
    count_cpu(job.owner(), job.used_->cpu_us);
  }
  return cpu_us;
}

std::int64_t BlockingReader::run(Jobs jobs, TickCost& cost) {
  std::int64_t cpu_us = take_back(cost);
  for (const auto& job : jobs) job->done_ = false;
  order(jobs);
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
  return static_cast<int>(std::count_if(stuck_jobs_.begin(), stuck_jobs_.end(),
                                        [](const Stuck& stuck) { return stuck.second->is_stuck(); }));
}

}  // namespace memoir
