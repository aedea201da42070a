#pragma once

// A recorder running on a database of its own, and a test's queries of it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/child.h"
#include "support/temporary_directory.h"

namespace memoir::test {

// The folder of one test: the database is in it. World-writable, for a recorder under another user.
class Scene {
 public:
  Scene();

  const std::string& folder() const { return folder_.path(); }
  std::string db() const { return folder_.path() + "/memoir.db"; }

  // Runs `memoir` on the database.
  Outcome ask(std::vector<std::string> arguments, std::optional<uid_t> as_user = {}) const;
  // The answer as JSON; fails the test without one.
  nlohmann::json answer(std::vector<std::string> arguments) const;
  nlohmann::json answer_rows(std::vector<std::string> arguments) const;
  // The row of each process in `memoir top`, by pid.
  std::map<std::int64_t, nlohmann::json> top() const;

  // The boot clock of the last committed tick, and the result of a numeric query; nullopt while there is none.
  std::optional<std::int64_t> last_tick() const;
  std::optional<std::int64_t> number(const std::string& sql) const;
  std::string text(const std::string& sql) const;
  // True if BPF reports exits to the recorder: known from its first tick on.
  bool exits_reported() const { return number("SELECT count(exits) FROM tick").value_or(0) > 0; }

 private:
  TemporaryDirectory folder_;
};

// For [alert]: no alerts for what else happens on the machine.
inline const std::string kNoLevels = "limit = 'off'\ntmpfs = 'off'\nswap = 'off'\nconfirmed = false\n";

// Writes a configuration into its folder and returns the path.
std::string configured(const Scene& scene, const std::string& toml);

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A running memoird. By default it ticks only on request (and on the hour) and reads every process in each tick:
// requested ticks have no CPU budget.
class Recorder {
 public:
  explicit Recorder(const Scene& scene, const std::string& interval = "1h", std::optional<uid_t> as_user = {},
                    const std::vector<std::string>& more = {});

  // Returns once a tick that started after this call is committed.
  void tick();
  // Stops it like systemd, and returns its exit status.
  int stop();
  void kill();
  Child& child() { return child_; }

 private:
  void wait_for_tick(std::int64_t since);

  const Scene& scene_;
  std::int64_t started_;  // on the boot clock
  Child child_;
};

}  // namespace memoir::test
