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
  bool format_config = false;
  std::chrono::milliseconds keyframe_every{std::chrono::hours(1)};
  std::chrono::milliseconds careful_step{std::chrono::seconds(20)};  // time between two steps of start_carefully()
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
  std::string containers;  // prefix of the paths of container managers' files
};

// Returns the options, or the exit status: 0 after printing help or version, 2 after a usage error.
std::variant<RecorderOptions, int> parse_options(int argc, const char* const* argv);

}  // namespace memoir
