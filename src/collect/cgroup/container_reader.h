#pragma once

// Names the containers of processes, by a separate job. The job reads container managers' files once for each new
// cgroup of a container, one tick after the cgroup appeared. Text from container names is limited per user, as command
// lines are (name_budget.h).

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "collect/collect_context.h"
#include "collect/container/container_files.h"
#include "collect/process/name_budget.h"
#include "collect/worker/blocking_reader.h"
#include "model/cgroup.h"

namespace memoir {

class ContainerReader {
 public:
  // `root`: as in describe_container(). `names`: whether to read the files; without them only the cgroup's path is
  // used.
  ContainerReader(std::string root, bool names, std::int64_t store_bytes)
      : root_(std::move(root)), names_(names), budget_(store_bytes) {}

  // Returns the job of this tick; nullptr if nothing is due, or if the previous job is stuck.
  std::shared_ptr<BlockingJob> ask();
  // Call it after the job has run. Adds its results to the tick. Cgroups that are new in this tick wait for the next
  // job.
  void take(CollectContext& context);
  // Forgets which containers were reported, so that each is reported again, for a store that lost its state.
  void forget() { seen_.clear(); }
  void set_store_bytes(std::int64_t bytes) { budget_.resize(bytes); }

 private:
  class Job;

  void report(CgroupContainer found, CollectContext& context);

  const std::string root_;
  const bool names_;
  NameBudget budget_;
  std::unordered_set<std::string> seen_;  // cgroups whose container was reported
  std::vector<CgroupContainer> waiting_;
  std::shared_ptr<Job> job_;
};

}  // namespace memoir
