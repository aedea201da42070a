#pragma once

// What the containers are called that processes run in, by a job of its own: the files of container managers are asked
// once for each cgroup of a container that is new, a tick after it was seen. Who makes and names containers all day
// fills no more of the store than who makes up command lines (name_budget.h).

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "collect/container/container_files.h"
#include "collect/pass.h"
#include "collect/process/name_budget.h"
#include "collect/worker/blocking_reader.h"
#include "model/cgroup.h"

namespace memoir {

class ContainerReader {
 public:
  // `root`: as of describe_container(). `names`: the files are asked; else what the cgroup's path tells is all there
  // is.
  ContainerReader(std::string root, bool names, std::int64_t store_bytes)
      : root_(std::move(root)), names_(names), budget_(store_bytes) {}

  // The job of this tick; nullptr where nothing is to be asked, or the last one is stuck.
  std::shared_ptr<BlockingJob> ask();
  // After it was run: into the tick what it found; and those cgroups that are new there wait for the next tick.
  void take(Pass& pass);
  // All are told of again when they are seen, for a store that lost what it knew.
  void forget() { seen_.clear(); }
  void set_store_bytes(std::int64_t bytes) { budget_.resize(bytes); }

 private:
  class Job;

  void tell(CgroupContainer found, Pass& pass);

  const std::string root_;
  const bool names_;
  NameBudget budget_;
  std::unordered_set<std::string> seen_;  // cgroups
  std::vector<CgroupContainer> waiting_;
  std::shared_ptr<Job> job_;
};

}  // namespace memoir
