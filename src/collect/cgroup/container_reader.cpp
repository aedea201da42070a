#include "collect/cgroup/container_reader.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::size_t kMaxAtOnce = 16;
constexpr std::size_t kMaxSeen = 8192;

std::size_t bytes_of(const Container& container) {
  return container.key.size() + container.name.size() + container.image.size() + container.pod_uid.size() +
         container.pod.size();
}

}  // namespace

class ContainerReader::Job final : public BlockingJob {
 public:
  Job(std::string root, std::vector<CgroupContainer> containers)
      : BlockingJob(CostKind::machine), root_(std::move(root)), containers_(std::move(containers)) {}

  void run(Buffer& buffer) override {
    for (CgroupContainer& of : containers_) describe_container(root_, of.container, buffer);
  }

  // Call it only while no worker runs the job.
  std::vector<CgroupContainer> take() { return std::move(containers_); }

 private:
  const std::string root_;
  std::vector<CgroupContainer> containers_;
};

std::shared_ptr<BlockingJob> ContainerReader::ask() {
  if (job_ != nullptr || waiting_.empty()) return nullptr;
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMaxAtOnce));
  job_ = std::make_shared<Job>(root_, std::vector(waiting_.begin(), end));
  waiting_.erase(waiting_.begin(), end);
  return job_;
}

void ContainerReader::report(CgroupContainer found, CollectContext& context) {
  constexpr std::uint32_t root = 0;
  Container& of = found.container;
  if (!budget_.take(root, bytes_of(of), context.tick.begin.boot_ms)) of.name = of.image = of.pod = {};
  context.tick.containers.push_back(std::move(found));
}

void ContainerReader::take(CollectContext& context) {
  // A stuck job is reported as blocked now. Its results are reported when it returns.
  if (job_ != nullptr && !job_->is_stuck()) {
    const auto job = std::exchange(job_, nullptr);
    const bool done = job->done();
    for (CgroupContainer& found : job->take()) {
      if (done) {
        report(std::move(found), context);
      } else {
        waiting_.push_back(std::move(found));
      }
    }
  } else if (job_ != nullptr) {
    context.note_blocked("the files of a container manager");
  }
  if (seen_.size() > kMaxSeen) seen_.clear();
  for (const ProcessInfo& info : context.tick.born) {
    if (!seen_.insert(info.cgroup).second) continue;
    CgroupContainer found{info.cgroup, container_in(info.cgroup)};
    if (found.container.runtime.empty()) continue;
    if (names_) {
      waiting_.push_back(std::move(found));
    } else {
      report(std::move(found), context);
    }
  }
}

}  // namespace memoir
