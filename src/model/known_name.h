#pragma once

// A combination of executable, command, directory and cgroup that was stored recently, and its processes' user.

#include <cstdint>
#include <string>

namespace memoir {

struct KnownName {
  std::uint32_t uid = 0;
  std::string exe;
  std::string command;
  std::string cwd;
  std::string cgroup;
  std::int64_t first_ms = 0;  // wall time of the first tick with such a process
};

}  // namespace memoir
