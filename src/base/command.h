#pragma once

// Runs a program to its end, without a shell, and keeps what it prints. It cannot hold us up: it gets a process group
// of its own, which is killed when it is too slow or prints too much.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace memoir {

struct CommandLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t bytes = 64 * 1024 * 1024;       // of standard output
  std::stop_token stop = {};                  // ends it before its time
  bool background = false;                    // Spawn::background
  std::vector<std::string> environment = {};  // on top of ours
};

struct CommandOutput {
  pid_t pid = 0;
  std::string out;
  std::string problem;      // how it ended and the first line of its standard error; empty: with exit status 0
  std::int64_t cpu_us = 0;  // its own, and that of children it waited for
};

// In the C locale, but for UTF-8 in names, and in UTC. An error (it could not be started, took too long: blocked,
// printed too much) names the program.
Result<CommandOutput> run_command(const std::string& path, const std::vector<std::string>& arguments,
                                  const CommandLimits& limits);

}  // namespace memoir
