#pragma once

// Reads cgroups on a worker of its own, so that no other read delays or prevents this. If the worker does not finish in
// time, the tick reports the cgroups as the previous one did. If a read still has not returned at the next tick, a new
// reader reads the other cgroups; if two have not, none are read.

#include <chrono>
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
  CgroupCollector(CgroupFs cgroups, std::shared_ptr<DescriptorBudget> budget, std::chrono::milliseconds deadline);
  ~CgroupCollector();

  // Adds a request for the complete readings that are due (cgroup_reader.h).
  void claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const;
  // Adds the cgroups to the tick. The other parameters are those of CgroupReader::begin().
  void read(const std::vector<CgroupMember>& members, bool refresh, bool turns, CollectContext& context);

  // Returns the cgroups omitted when the worker finished last.
  const CgroupsLeft& left() const { return left_; }

 private:
  class Job;

  bool begin(const std::vector<CgroupMember>& members, bool refresh, bool turns, const Tick& tick);
  void report(CollectContext& context);

  const CgroupFs cgroups_;
  const std::shared_ptr<DescriptorBudget> budget_;
  BlockingReader worker_;
  std::shared_ptr<Job> job_;  // nullptr while too many are stuck
  std::vector<std::shared_ptr<Job>> stuck_;
  std::vector<CgroupSample> reported_;
  CgroupsLeft left_;
};

}  // namespace memoir
