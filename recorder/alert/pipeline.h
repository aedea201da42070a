#pragma once

// Runs a program with memoir's output as its standard input. Both are in one process group, which is killed after the
// timeout. Blocks until both end: call it on a separate thread.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace memoir {

struct AlertRun {
  std::vector<std::string> exec;         // the program's path and its arguments
  std::vector<std::string> memoir;       // the arguments of `memoir`
  std::vector<std::string> environment;  // NAME=value, in addition to the recorder's own
  std::chrono::milliseconds timeout{};
};

struct AlertEnd {
  bool well = false;  // memoir succeeded, and the program had exit status 0
  std::string text;   // "/usr/local/bin/alert: exit status 0 after 0.2 s"
};

AlertEnd run_alert(const AlertRun& run, const std::stop_token& stop);

// Finds memoir next to memoird, in the bin folder next to its sbin, or on PATH.
std::optional<std::string> find_memoir();

}  // namespace memoir
