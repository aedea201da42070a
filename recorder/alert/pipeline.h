#pragma once

// Runs a program with the output of memoir on its standard input, both in one process group, which is killed if it
// takes too long. Blocks until the end: call it on a separate thread.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace memoir {

struct AlertRun {
  std::vector<std::string> exec;         // the program's path and its arguments
  std::vector<std::string> memoir;       // the arguments of `memoir`
  std::vector<std::string> environment;  // NAME=value, in addition to ours
  std::chrono::milliseconds timeout{};
};

struct AlertEnd {
  bool well = false;  // memoir succeeded, and the program had exit status 0
  std::string text;   // "/usr/local/bin/alert: exit status 0 after 0.2 s"
};

AlertEnd run_alert(const AlertRun& run, const std::stop_token& stop);

// Next to memoird, in the bin next to its sbin, or on PATH.
std::optional<std::string> find_memoir();

}  // namespace memoir
