#pragma once

// A tree of cgroups for the benchmarks, read by the collector's plan at each tick.

#include <cstdint>
#include <string>
#include <vector>

#include "collect/cgroup/cgroup_reader.h"

namespace memoir::bench {

// Slices of twenty services each: a fake v2 tree of ordinary files, or cgroups of the real v1 memory controller.
class CgroupTree {
 public:
  CgroupTree(std::string root, bool v1, std::size_t groups);
  ~CgroupTree();
  CgroupTree(const CgroupTree&) = delete;
  CgroupTree& operator=(const CgroupTree&) = delete;

  bool usable() const { return usable_; }
  const std::string& root() const { return root_; }
  bool v1() const { return v1_; }
  const std::vector<std::string>& paths() const { return paths_; }
  // The folder of each cgroup.
  const std::vector<std::string>& folders() const { return made_; }

  // Sets the usage of a fake cgroup.
  void hold(std::size_t index, std::int64_t kib) const;

 private:
  bool make(const std::string& path);

  std::string root_;
  bool v1_;
  bool usable_ = false;
  std::vector<std::string> made_;
  std::vector<std::string> paths_;
};

class CgroupTicks {
 public:
  explicit CgroupTicks(const CgroupTree& tree) : budget_(kDescriptors), reader_(CgroupFs(tree.root()), budget_) {}

  // Adds the readings of the cgroups to `tick`.
  void take(const std::vector<CgroupMember>& members, bool all, Tick& tick);
  Buffer& buffer() { return buffer_; }

 private:
  static constexpr std::size_t kDescriptors = 15'000;

  DescriptorBudget budget_;
  CgroupReader reader_;
  Buffer buffer_;
};

}  // namespace memoir::bench
