#pragma once

// Reads cgroups by a job of the worker. If it does not finish in time, the tick reports the cgroups as the previous one
// did. If a read still has not returned at the next tick, a new reader reads the other cgroups; if two have not, none
// are read.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/cached_file.h"
#include "collect/cgroup/cgroup_reader.h"
#include "collect/collect_context.h"
#include "collect/worker/blocking_reader.h"

namespace memoir {

class CgroupCollector {
 public:
  CgroupCollector(CgroupFs cgroups, std::shared_ptr<DescriptorBudget> budget);
  ~CgroupCollector();

  // Adds a request for the complete readings that are due (cgroup_reader.h).
  void claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const;
  // Returns the job of this tick; nullptr if too many are stuck. The parameters are those of CgroupReader::begin().
  std::shared_ptr<BlockingJob> ask(const std::vector<CgroupMember>& members, bool refresh, const Tick& tick,
                                   bool turns);
  // Call it after the job has run. Adds the cgroups to the tick.
  void take(CollectContext& context);

  // Returns the cgroups omitted when the last job was done.
  const CgroupsLeft& left() const { return left_; }

 private:
  class Job;

  const CgroupFs cgroups_;
  const std::shared_ptr<DescriptorBudget> budget_;
  std::shared_ptr<Job> job_;  // nullptr while too many are stuck
  std::vector<std::shared_ptr<Job>> stuck_;
  std::vector<CgroupSample> reported_;
  CgroupsLeft left_;
};

}  // namespace memoir
