#pragma once

// Runs a program with the output of memoir on its standard input, both in one process group, which is ended when it
// takes too long. Waits for the end: for a thread of its own.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace memoir {

struct AlertRun {
  std::vector<std::string> exec;         // the program's path and its arguments
  std::vector<std::string> memoir;       // the words after `memoir`
  std::vector<std::string> environment;  // NAME=value, on top of ours
  std::chrono::milliseconds timeout{};
};

struct AlertEnd {
  bool well = false;  // memoir answered, and the program ended with exit status 0
  std::string text;   // "/usr/local/bin/alert: exit status 0 after 0.2 s"
};

AlertEnd run_alert(const AlertRun& run, const std::stop_token& stop);

// Beside memoird, in the bin beside its sbin, or on PATH.
std::optional<std::string> find_memoir();

}  // namespace memoir
