#pragma once

// Runs a program to its end, without a shell, and captures its output. A program that is too slow or prints too much
// does not block the caller: its process group is killed.

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
  std::size_t bytes = 64 * 1024 * 1024;       // maximum length of the standard output
  std::stop_token stop = {};                  // a stop request kills the program early
  bool background = false;                    // see Spawn::background
  std::vector<std::string> environment = {};  // NAME=value, added to PATH, LC_CTYPE and TZ
};

struct CommandOutput {
  pid_t pid = 0;
  std::string out;
  std::string problem;      // exit status of the program and first line of its standard error; empty for exit status 0
  std::int64_t cpu_us = 0;  // CPU time of the command and of the children it waited for
};

// Runs the program in the C locale with UTF-8, and in UTC. Returns an error, which names the program, if it could not
// be started, took too long (blocked) or printed too much.
Result<CommandOutput> run_command(const std::string& path, const std::vector<std::string>& arguments,
                                  const CommandLimits& limits);

}  // namespace memoir
