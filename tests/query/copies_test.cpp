// memoir backup and memoir extract: every command can answer from their files.

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/commands.h"
#include "query/history.h"
#include "support/catch.h"
#include "support/slurp.h"
#include "support/trials.h"

namespace copies_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;
using memoir::test::History;
using memoir::test::recorded;

namespace {

namespace fs = std::filesystem;

void record(History& history) {
  history.begin_run();
  history.birth(7, {"nginx", "nginx: worker", "web"}, 5000);
  history.tick(30);
  history.birth(8, {"job", "job --once", "batch"}, 9000);
  history.tick(30);
  history.death(8);
  history.hold(7, 6000);
  history.tick(300);
}

Outcome ask(std::vector<std::string> words, const std::string& database = recorded<record>().path()) {
  return test::ask(database, recorded<record>().now_ms(), std::move(words));
}

}  // namespace

TEST_CASE("Every command answers from a backup and from an extract") {
  const test::TemporaryDirectory directory;
  const std::string backup = directory.path() + "/backup.db";
  const std::string part = directory.path() + "/part.db";
  const auto all = json_of(recorded<record>(), {"backup", "-o", backup});
  CHECK(all["rows"][0]["ticks"] == 360);
  CHECK(all["rows"][0]["file"] == backup);
  const auto few = json_of(recorded<record>(), {"extract", "--last", "10m", "--output", part});
  CHECK(few["coverage"]["ticks"] == 61);
  CHECK(few["rows"][0]["to_ms"] == recorded<record>().now_ms() - History::kInterval);
  for (const std::string& file : {backup, part}) {
    for (const Command& command : commands()) {
      if (command.interact) continue;  // needs a terminal
      CAPTURE(file, command.name);
      const Outcome outcome = ask({command.name}, file);
      CHECK(((outcome.exit != Exit::failed) || command.name == "doctor"));
    }
    CHECK(has(ask({"top"}, file).out, "nginx: worker"));
    CHECK(has(ask({"status"}, file).out, "copied"));
  }
}

TEST_CASE("An extract of a range has the data of the range") {
  const test::TemporaryDirectory directory;
  const std::string part = directory.path() + "/part.db";
  const std::int64_t from = History::kStart + 31 * History::kInterval;
  const std::vector<std::string> range{"--from", "@" + std::to_string(from), "--to",
                                       "@" + std::to_string(from + 10 * History::kInterval)};
  std::vector<std::string> words{"extract", "-o", part};
  words.insert(words.end(), range.begin(), range.end());
  REQUIRE(ask(words).exit == Exit::answered);
  for (const char* command : {"top", "peaks", "processes", "categories", "trend"}) {
    std::vector<std::string> question{command, "--format", "csv"};
    question.insert(question.end(), range.begin(), range.end());
    CAPTURE(command);
    if (std::string_view(command) == "processes") {
      CHECK(has(ask(question, part).out, "job --once"));
    } else {
      CHECK(ask(question, part).out == ask(question).out);
    }
  }
}

// The copy is either complete and correct, or the previous file stays, whichever page is damaged.
TEST_CASE("A copy of a damaged file does not replace a good one") {
  constexpr std::size_t page = 2048;
  const test::TemporaryDirectory directory;
  const std::string source = directory.path() + "/source.db";
  const std::string good = directory.path() + "/good.db";
  const auto copy = [&](const std::string& command) {
    std::vector<std::string> words{command, "-o", good, "--force"};
    if (command == "extract") words.insert(words.end(), {"--last", "20m"});
    return ask(words, source);
  };
  REQUIRE(ask({"backup", "-o", source}).exit == Exit::answered);
  const std::string whole = memoir::test::slurp(source);
  const std::size_t pages = whole.size() / page;
  for (const std::string command : {"backup", "extract"}) {
    REQUIRE(copy(command).exit == Exit::answered);
    const std::string expected = memoir::test::slurp(good);
    std::size_t refused = 0;
    const std::size_t step = memoir::test::all_trials() ? 3 : 10;
    for (std::size_t lost = 1; lost < pages; lost += step) {
      CAPTURE(command, lost);
      std::string bytes = whole;
      bytes.replace(lost * page, page, page, '\0');
      std::ofstream(source, std::ios::binary) << bytes;
      std::ofstream(good, std::ios::binary) << "good";
      const Outcome outcome = copy(command);
      CAPTURE(outcome.error);
      CHECK_FALSE(fs::exists(good + ".partial"));
      if (outcome.exit == Exit::answered) {
        CHECK((memoir::test::slurp(good) == expected));
        continue;
      }
      ++refused;
      CHECK(outcome.exit == Exit::failed);
      CHECK(has(outcome.error, source));
      CHECK(outcome.out.empty());
      CHECK(memoir::test::slurp(good) == "good");
    }
    CHECK(step * refused > (command == "backup" ? pages * 3 / 4 : 15));
    std::ofstream(source, std::ios::binary) << whole;
  }
}

TEST_CASE("A copy without a file name, a range or data is refused") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.path() + "/copy.db";
  CHECK(ask({"backup"}).exit == Exit::usage);
  CHECK(has(ask({"backup"}).error, "-o F"));
  CHECK(ask({"extract", "-o", file}).exit == Exit::usage);
  CHECK(has(ask({"extract", "-o", file}).error, "--last 2h"));
  CHECK(ask({"backup", "-o"}).exit == Exit::usage);
  CHECK(ask({"backup", "-o", recorded<record>().path(), "--force"}).exit == Exit::usage);
  CHECK(ask({"extract", "--day", "2020-01-01", "-o", file}).exit == Exit::empty);
  CHECK_FALSE(fs::exists(file));
  REQUIRE(ask({"backup", "-o", file}).exit == Exit::answered);
  const Outcome refused = ask({"backup", "-o", file});
  CHECK(refused.exit == Exit::failed);
  CHECK(has(refused.error, "--force"));
  CHECK(ask({"backup", "-o", file, "--force"}).exit == Exit::answered);
}

}  // namespace copies_test
