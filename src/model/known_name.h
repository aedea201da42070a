#pragma once

// A recently stored name, by the process that brought it.

#include <cstdint>
#include <string>

namespace memoir {

struct KnownName {
  std::uint32_t uid = 0;
  std::string exe;
  std::string command;
  std::string cwd;
  std::string cgroup;
  std::int64_t first_ms = 0;  // wall time of the first tick with it
};

}  // namespace memoir
