#pragma once

// A recorder that records to a database of its own, and a test's queries of it.

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

// The folder of one test, with the database. It is world-writable for a recorder that runs as another user.
class Scene {
 public:
  Scene();

  const std::string& folder() const { return folder_.path(); }
  std::string db() const { return folder_.path() + "/memoir.db"; }

  // Runs `memoir` on the database.
  Outcome ask(std::vector<std::string> arguments, std::optional<uid_t> as_user = {}) const;
  // Returns the answer as JSON; fails the test without one.
  nlohmann::json answer(std::vector<std::string> arguments) const;
  nlohmann::json answer_rows(std::vector<std::string> arguments) const;
  // Returns the row of each process in `memoir top`, by pid.
  std::map<std::int64_t, nlohmann::json> top() const;

  // These return the boot time of the last committed tick, and the result of a numeric query; nullopt if there is none
  // yet.
  std::optional<std::int64_t> last_tick() const;
  std::optional<std::int64_t> number(const std::string& sql) const;
  std::string text(const std::string& sql) const;
  // Returns true if BPF reports exits to the recorder. Known from the first tick on.
  bool exits_reported() const { return number("SELECT count(exits) FROM tick").value_or(0) > 0; }

 private:
  TemporaryDirectory folder_;
};

// For [alert]: disables alerts that other activity on the machine could cause.
inline const std::string kNoLevels = "limit = 'off'\ntmpfs = 'off'\nswap = 'off'\nconfirmed = false\n";

// Writes a configuration file to the scene's folder and returns its path.
std::string configured(const Scene& scene, const std::string& toml);

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A running memoird. By default it ticks only on request (and on the hour), and each tick reads every process, because
// requested ticks have no CPU budget.
class Recorder {
 public:
  explicit Recorder(const Scene& scene, const std::string& interval = "1h", std::optional<uid_t> as_user = {},
                    const std::vector<std::string>& more = {});

  // Returns once a tick that started after this call is committed.
  void tick();
  // Stops it as systemd does, and returns its exit status.
  int stop();
  void kill();
  Child& child() { return child_; }

 private:
  void wait_for_tick(std::int64_t since);

  const Scene& scene_;
  std::int64_t started_;  // start time on the boot clock
  Child child_;
};

}  // namespace memoir::test
