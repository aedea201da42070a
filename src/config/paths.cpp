#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "config/config.h"

namespace memoir {
namespace {

constexpr const char* kSystemConfig = "/etc/memoir/memoir.toml";
constexpr const char* kSystemDatabase = "/var/lib/memoir/memoir.db";

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

// Returns a base directory of the XDG specification, which ignores relative paths. Empty without a home directory.
std::string xdg(const char* variable, std::string_view below_home) {
  const std::string_view base = environment(variable);
  if (base.starts_with('/')) return std::string(base);
  const std::string_view home = environment("HOME");
  return home.empty() ? std::string{} : std::string(home) + std::string(below_home);
}

}  // namespace

std::string default_config_path() {
  if (geteuid() == 0 || access(kSystemConfig, R_OK) == 0) return kSystemConfig;
  const std::string base = xdg("XDG_CONFIG_HOME", "/.config");
  return base.empty() ? kSystemConfig : base + "/memoir/memoir.toml";
}

std::string default_database_path() {
  // If a unit has several StateDirectory=, colons separate them. The database is in the first.
  const std::string_view state = environment("STATE_DIRECTORY");
  if (state.starts_with('/')) return std::string(state.substr(0, state.find(':'))) + "/memoir.db";
  if (geteuid() == 0) return kSystemDatabase;
  const std::string base = xdg("XDG_DATA_HOME", "/.local/share");
  return base.empty() ? kSystemDatabase : base + "/memoir/memoir.db";
}

}  // namespace memoir
