#include "collect/cgroup/cgroup_collector.h"

#include <atomic>
#include <utility>

#include "base/transformed.h"
#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxStuckReads = 2;  // each stuck job needs a thread

}  // namespace

class CgroupCollector::Job final : public BlockingJob {
 public:
  Job(CgroupFs cgroups, std::shared_ptr<DescriptorBudget> budget)
      : BlockingJob(CostKind::machine), budget_(std::move(budget)), reader_(std::move(cgroups), *budget_) {}

  void run(Buffer& buffer) override {
    reader_.read(avoid_, buffer, [this](const std::string& path) {
      at_.store(&path, std::memory_order_release);
      note_progress();
      return !is_stuck();
    });
  }

  // Call these functions only while no worker runs the job.
  CgroupReader& reader() { return reader_; }
  void prepare(std::vector<std::string> avoid) {
    avoid_ = std::move(avoid);
    at_.store(nullptr);
  }

  // Returns the cgroup that a stuck job reads; empty if it has not started.
  std::string waits_for() const {
    const std::string* const path = at_.load(std::memory_order_acquire);
    return path == nullptr ? std::string() : *path;
  }

 private:
  const std::shared_ptr<DescriptorBudget> budget_;
  CgroupReader reader_;
  std::vector<std::string> avoid_;
  std::atomic<const std::string*> at_{nullptr};  // a path that the reader keeps
};

CgroupCollector::CgroupCollector(CgroupFs cgroups, std::shared_ptr<DescriptorBudget> budget,
                                 std::chrono::milliseconds deadline)
    : cgroups_(std::move(cgroups)),
      budget_(std::move(budget)),
      worker_(deadline),
      job_(std::make_shared<Job>(cgroups_, budget_)) {}

CgroupCollector::~CgroupCollector() = default;

void CgroupCollector::claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const {
  if (job_ != nullptr && !job_->is_stuck()) job_->reader().claim(boot_ms, claims);
}

// Prepares the job of this tick. Returns false if too many are stuck.
bool CgroupCollector::begin(const std::vector<CgroupMember>& members, bool refresh, bool turns, const Tick& tick) {
  forget_returned(stuck_);
  if (job_ != nullptr && job_->is_stuck()) stuck_.push_back(std::exchange(job_, nullptr));
  if (stuck_.size() >= kMaxStuckReads) return false;
  if (job_ == nullptr) {
    job_ = std::make_shared<Job>(cgroups_, budget_);
    refresh = true;
  }
  job_->prepare(transformed(stuck_, &Job::waits_for));
  job_->reader().begin(members, refresh, tick, turns);
  return true;
}

void CgroupCollector::report(CollectContext& context) {
  for (const auto& job : stuck_) context.note_blocked("the cgroup " + job->waits_for());
  if (job_ == nullptr) return;
  if (job_->is_stuck() || !job_->done()) {
    context.note_blocked("the cgroups");
    context.tick.cgroups = reported_;
    // The next tick counts the kills, together with those of the cgroups.
    context.tick.machine.memory.clear(MachineField::oom_kill);
    return;
  }
  job_->reader().report(context);
  reported_ = context.tick.cgroups;
  left_ = job_->reader().left();
}

void CgroupCollector::read(const std::vector<CgroupMember>& members, bool refresh, bool turns,
                           CollectContext& context) {
  CostSpan span;
  Tick& tick = context.tick;
  const bool begun = begin(members, refresh, turns, tick);
  span.add_to(tick.cost, CostKind::machine);
  worker_.begin(tick.begin.boot_ms * 1000);
  if (begun) tick.total.cpu_us += worker_.run({job_}, tick.cost);
  span = CostSpan();
  report(context);
  span.add_to(tick.cost, CostKind::machine);
}

}  // namespace memoir
