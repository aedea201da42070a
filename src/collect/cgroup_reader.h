#pragma once

// What the cgroups of the live processes, and those above them, may hold and hold. Limits hardly ever change, so that
// all of them are read only now and then, and in between those that are new.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "collect/pass.h"
#include "model/cgroup.h"
#include "proc/cgroup_fs.h"

namespace memoir {

class CgroupReader {
 public:
  explicit CgroupReader(CgroupFs cgroups) : cgroups_(std::move(cgroups)) {}

  // Puts what is known into the tick. `paths`: of the processes, in any order, repeats allowed. `all`: every one is
  // read anew, and those that no process is in or below any more are forgotten.
  void read(const std::vector<std::string_view>& paths, bool all, Pass& pass);

 private:
  // Absent: it has no limits and no usage that could be read.
  std::optional<CgroupSample> read_one(std::string_view path, Pass& pass) const;
  template <typename T>
  std::optional<T> value(std::string_view path, CgroupFile file, Result<T> (*parse)(std::string_view),
                         Pass& pass) const;

  CgroupFs cgroups_;
  std::map<std::string, std::optional<CgroupSample>, std::less<>> known_;
};

}  // namespace memoir
