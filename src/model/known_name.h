#pragma once

// A combination of names that was stored recently, and the user of the processes with them.

#include <cstdint>
#include <string>

namespace memoir {

struct KnownName {
  std::uint32_t uid = 0;
  std::string exe;
  std::string command;
  std::string cwd;
  std::string cgroup;
  std::int64_t first_ms = 0;  // wall time of the first tick with them
};

}  // namespace memoir
