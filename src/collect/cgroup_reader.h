#pragma once

// What the cgroups of the live processes, and those above them, may hold and hold, as it is at the tick. Their files
// are small and stay open.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/kept_file.h"
#include "collect/pass.h"
#include "model/cgroup.h"
#include "proc/cgroup_fs.h"

namespace memoir {

class CgroupReader {
 public:
  CgroupReader(CgroupFs cgroups, DescriptorBudget& budget) : cgroups_(std::move(cgroups)), budget_(budget) {}

  // Puts them into the tick. `paths`: of the processes, in any order, repeats allowed. `all`: those that no process is
  // in or below any more are forgotten, and files that were not there are looked for again.
  void read(const std::vector<std::string_view>& paths, bool all, Pass& pass);

 private:
  struct File {
    KeptFile kept;
    bool missing = false;
  };
  struct Cgroup {
    std::array<std::optional<File>, kCgroupFiles> files;
    std::optional<CgroupSample> sample;  // absent: it has no limits and no usage that could be read
    std::optional<std::int64_t> oom_kills;
    bool used = false;
  };

  void find(const std::vector<std::string_view>& paths, bool all);
  void update(const std::string& path, Cgroup& cgroup, Pass& pass);
  void count_oom_kills(Pass& pass);
  template <typename T>
  std::optional<T> value(const std::string& path, Cgroup& cgroup, CgroupFile file, Result<T> (*parse)(std::string_view),
                         Pass& pass);

  CgroupFs cgroups_;
  DescriptorBudget& budget_;
  std::map<std::string, Cgroup, std::less<>> known_;
  std::optional<std::int64_t> machine_oom_kills_;
};

}  // namespace memoir
