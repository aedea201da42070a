#pragma once

// A recorder at work on a database of its own, and the questions that a test asks of it.

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

// The folder of one test: the database is in it. Anyone may write it, so that a recorder under another user can.
class Scene {
 public:
  Scene();

  const std::string& folder() const { return folder_.path(); }
  std::string db() const { return folder_.path() + "/memoir.db"; }

  // Runs `memoir` on the database.
  Outcome ask(std::vector<std::string> arguments, std::optional<uid_t> as_user = {}) const;
  // The answer as JSON; fails the test if there is none.
  nlohmann::json answer(std::vector<std::string> arguments) const;
  nlohmann::json answer_rows(std::vector<std::string> arguments) const;
  // The row of each process in `memoir top`, by pid.
  std::map<std::int64_t, nlohmann::json> top() const;

  // The boot clock of the last committed tick, and a number that a query yields; absent as long as there is none.
  std::optional<std::int64_t> last_tick() const;
  std::optional<std::int64_t> number(const std::string& sql) const;
  std::string text(const std::string& sql) const;
  // Whether BPF tells the recorder of ends: known from its first tick on.
  bool ends_told() const { return number("SELECT count(ends) FROM tick").value_or(0) > 0; }

 private:
  TemporaryDirectory folder_;
};

// A configuration in its folder, and where that is.
std::string configured(const Scene& scene, const std::string& toml);

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A running memoird. By default it ticks only when told to (and on the hour), and reads every process in each: ticks
// that come at once have no budget of time.
class Recorder {
 public:
  explicit Recorder(const Scene& scene, const std::string& interval = "1h", std::optional<uid_t> as_user = {},
                    const std::vector<std::string>& more = {});

  // Returns once a tick that began after this call is committed.
  void tick();
  // Ends it as systemd would, and returns its exit status.
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
