#include <cstdlib>
#include <optional>
#include <string>
#include <unistd.h>

#include "config/config.h"
#include "support/catch.h"

using namespace memoir;

namespace {

// Sets an environment variable during its lifetime.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Setting() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("systemd's state directory comes first for the database") {
  const Setting data("XDG_DATA_HOME", "/data");
  const Setting one("STATE_DIRECTORY", "/var/lib/private/memoir");
  CHECK(default_database_path() == "/var/lib/private/memoir/memoir.db");
  const Setting several("STATE_DIRECTORY", "/var/lib/a:/var/lib/b");
  CHECK(default_database_path() == "/var/lib/a/memoir.db");
}

TEST_CASE("root has the system's paths, a user the XDG ones") {
  const Setting state("STATE_DIRECTORY", nullptr);
  const Setting data("XDG_DATA_HOME", "/data");
  const Setting config("XDG_CONFIG_HOME", "/config");
  const bool root = geteuid() == 0;
  const bool system_config = root || access("/etc/memoir/memoir.toml", R_OK) == 0;
  CHECK(default_database_path() == (root ? "/var/lib/memoir/memoir.db" : "/data/memoir/memoir.db"));
  CHECK(default_config_path() == (system_config ? "/etc/memoir/memoir.toml" : "/config/memoir/memoir.toml"));
}

TEST_CASE("a relative XDG directory counts as not set") {
  const Setting state("STATE_DIRECTORY", nullptr);
  const Setting data("XDG_DATA_HOME", "data");
  const Setting home("HOME", "/home/ada");
  if (geteuid() != 0) CHECK(default_database_path() == "/home/ada/.local/share/memoir/memoir.db");
  if (geteuid() == 0) CHECK(default_database_path() == "/var/lib/memoir/memoir.db");
}
