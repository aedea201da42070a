#include "collect/cgroup/cgroup_collector.h"

#include <atomic>
#include <utility>

#include "base/transformed.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxStuck = 2;  // each stuck job needs a thread

}  // namespace

class CgroupCollector::Job final : public BlockingJob {
 public:
  Job(CgroupFs cgroups, std::shared_ptr<DescriptorBudget> budget)
      : BlockingJob(CostKind::machine), budget_(std::move(budget)), reader_(std::move(cgroups), *budget_) {}

  void run(Buffer& buffer) override {
    reader_.read(avoid_, buffer, [this](const std::string& path) {
      at_.store(&path, std::memory_order_release);
      note_progress();
    });
  }

  // Call these two functions only while no worker runs the job.
  CgroupReader& reader() { return reader_; }
  void avoid(std::vector<std::string> paths) { avoid_ = std::move(paths); }

  // Returns the cgroup that a stuck job reads.
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

CgroupCollector::CgroupCollector(CgroupFs cgroups, std::shared_ptr<DescriptorBudget> budget)
    : cgroups_(std::move(cgroups)), budget_(std::move(budget)), job_(std::make_shared<Job>(cgroups_, budget_)) {}

CgroupCollector::~CgroupCollector() = default;

void CgroupCollector::claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const {
  if (job_ != nullptr) job_->reader().claim(boot_ms, claims);
}

std::shared_ptr<BlockingJob> CgroupCollector::ask(const std::vector<CgroupMember>& members, bool refresh,
                                                  const Tick& tick, bool turns) {
  std::erase_if(stuck_, [](const auto& job) { return !job->is_stuck(); });
  if (stuck_.size() >= kMaxStuck) return nullptr;
  if (job_ == nullptr) {
    job_ = std::make_shared<Job>(cgroups_, budget_);
    refresh = true;
  }
  job_->avoid(transformed(stuck_, &Job::waits_for));
  job_->reader().begin(members, refresh, tick, turns);
  return job_;
}

void CgroupCollector::take(CollectContext& context) {
  if (job_ != nullptr && job_->is_stuck()) stuck_.push_back(std::exchange(job_, nullptr));
  for (const auto& job : stuck_) context.note_blocked("the cgroup " + job->waits_for());
  if (job_ == nullptr || !job_->done()) {
    context.tick.cgroups = reported_;
    return;
  }
  job_->reader().report(context);
  reported_ = context.tick.cgroups;
  left_ = job_->reader().left();
}

}  // namespace memoir
