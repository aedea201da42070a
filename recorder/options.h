#pragma once

// The command line of memoird.

#include <chrono>
#include <optional>
#include <string>
#include <variant>

namespace memoir {

struct RecorderOptions {
  std::optional<std::string> config;
  std::optional<std::string> db;
  std::optional<std::string> source;
  std::optional<std::chrono::milliseconds> interval;
  std::optional<std::chrono::milliseconds> duration;
  bool once = false;
  bool foreground = false;
  bool check_config = false;
  bool print_config = false;
  std::chrono::milliseconds keyframe_every{std::chrono::hours(1)};
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
  std::string containers;  // stands before the paths of container managers' files
};

// The options, or the status to exit with: help and version were printed (0), or what is wrong with the usage (2).
std::variant<RecorderOptions, int> parse_options(int argc, const char* const* argv);

}  // namespace memoir
