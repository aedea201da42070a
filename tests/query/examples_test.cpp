// Every example of --help works on a recorded file.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "query/application.h"
#include "query/commands.h"
#include "query/history.h"
#include "query/render/terminal.h"
#include "query/zone_guard.h"
#include "support/catch.h"
#include "support/manual_clock.h"

namespace examples_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;

namespace {

// A day and a quarter, with a few ticks every twenty minutes: a web server, a growing database and a job at night.
void record(History& history) {
  history.begin_run();
  history.birth(812, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/nginx.service"}, 120'000);
  history.birth(900, {"postgres", "postgres: main", "database", "postgres", "/system.slice/postgresql.service"},
                500'000);
  history.cgroup({"/system.slice/nginx.service", 150'000, 20'000, 0, 400'000, {}, {}});
  history.cgroup({"/docker", 90'000, 10'000, 0, {}, {}, {}});
  history.shmem();
  for (int third = 0; third < 90; ++third) {
    history.hold(900, 500'000 + third * 2'000);
    if (third % 9 == 0) history.birth(1000 + third, {"job", "python3 job.py", "python", "app", "/user.slice"}, 90'000);
    if (third % 9 == 2) history.death(1000 + third - 2);
    history.summary(812, {.regions = 1});
    history.tick(3);
    history.pause(20 * 60'000);
  }
  history.end_run();
  history.begin_run();
  history.shmem();
  history.summary(812, {.regions = 1});
  history.oom_victim({4242, "nginx", "/system.slice/nginx.service", history.now_ms() - 500, 1'000, 2'000, {}});
  history.tick(30);
  history.event("gap", "Nothing was recorded");
}

// Returns the words of a shell line, up to a redirection.
std::vector<std::string> words_of(const std::string& line) {
  CHECK(line.find_first_of("|;&$`*") == std::string::npos);
  std::vector<std::string> words;
  std::istringstream in(line.substr(0, line.find('>')));
  for (std::string word; in >> word;) {
    if (word.front() == '\'' || word.front() == '"') {
      const char quote = word.front();
      for (std::string more; word.back() != quote && in >> more;) word += " " + more;
      word = word.substr(1, word.size() - 2);
    }
    words.push_back(word);
  }
  return words;
}

}  // namespace

TEST_CASE("Every example of the help works") {
  use_utf8();
  const test::ZoneGuard zone("UTC");
  History history;
  record(history);
  // The folder for the examples that write a file.
  const test::TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  std::ofstream("rss.csv") << "time_ms,kib\n0,100\n300000,110\n";
  for (const Command& command : commands()) {
    if (command.interact) continue;  // needs a terminal
    for (const Example& example : command.examples) {
      CAPTURE(example.line);
      std::vector<std::string> words = words_of(example.line);
      REQUIRE(words.size() >= 2);
      CHECK(example.line.starts_with("memoir " + (command.full_name.empty() ? command.name : command.full_name)));
      words.erase(words.begin());
      if (!command.print) words.insert(words.end(), {"--db", history.path()});
      const Outcome outcome = run_query(words, test::ManualClock({history.now_ms(), 0}));
      CAPTURE(outcome.error);
      CHECK(outcome.exit == Exit::answered);
    }
  }
  std::filesystem::current_path(before);
}

}  // namespace examples_test
