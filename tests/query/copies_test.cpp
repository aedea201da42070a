// memoir backup and memoir extract: what they write answers every command.

#include <filesystem>

#include <nlohmann/json.hpp>

#include "query/application.h"
#include "query/commands.h"
#include "query/history.h"
#include "support/catch.h"
#include "support/manual_clock.h"

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;

namespace {

namespace fs = std::filesystem;

History& recording() {
  static History history;
  static const bool recorded = [] {
    history.begin_run();
    history.birth(7, {"nginx", "nginx: worker", "web"}, 5000);
    history.tick(30);
    history.birth(8, {"job", "job --once", "batch"}, 9000);
    history.tick(30);
    history.death(8);
    history.hold(7, 6000);
    history.tick(300);
    return true;
  }();
  static_cast<void>(recorded);
  return history;
}

Outcome ask(std::vector<std::string> arguments, const std::string& database = recording().path()) {
  const test::ManualClock clock({recording().now_ms(), 0});
  arguments.insert(arguments.end(), {"--db", database});
  return answer(arguments, clock);
}

nlohmann::json json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Outcome outcome = ask(arguments);
  CAPTURE(outcome.error);
  REQUIRE(outcome.exit == Exit::answered);
  return nlohmann::json::parse(outcome.out);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Every command answers from a backup and from an extract") {
  const test::TemporaryDirectory directory;
  const std::string backup = directory.path() + "/backup.db";
  const std::string part = directory.path() + "/part.db";
  const auto all = json_of({"backup", "-o", backup});
  CHECK(all["rows"][0]["ticks"] == 360);
  CHECK(all["rows"][0]["file"] == backup);
  const auto few = json_of({"extract", "--last", "10m", "--output", part});
  CHECK(few["coverage"]["ticks"] == 61);
  CHECK(few["rows"][0]["to_ms"] == recording().now_ms() - History::kInterval);
  for (const std::string& file : {backup, part}) {
    for (const Command& command : commands()) {
      CAPTURE(file, command.name);
      const Outcome outcome = ask({command.name}, file);
      CHECK(((outcome.exit != Exit::failed) || command.name == "doctor"));
    }
    CHECK(contains(ask({"top"}, file).out, "nginx: worker"));
    CHECK(contains(ask({"status"}, file).out, "copied"));
  }
}

TEST_CASE("An extract of a range has what the range saw") {
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
      CHECK(contains(ask(question, part).out, "job --once"));
    } else {
      CHECK(ask(question, part).out == ask(question).out);
    }
  }
}

TEST_CASE("A copy without a place, a range, or anything in it is refused") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.path() + "/copy.db";
  CHECK(ask({"backup"}).exit == Exit::usage);
  CHECK(contains(ask({"backup"}).error, "-o F"));
  CHECK(ask({"extract", "-o", file}).exit == Exit::usage);
  CHECK(contains(ask({"extract", "-o", file}).error, "--last 2h"));
  CHECK(ask({"backup", "-o"}).exit == Exit::usage);
  CHECK(ask({"backup", "-o", recording().path(), "--force"}).exit == Exit::usage);
  CHECK(ask({"extract", "--day", "2020-01-01", "-o", file}).exit == Exit::empty);
  CHECK_FALSE(fs::exists(file));
  REQUIRE(ask({"backup", "-o", file}).exit == Exit::answered);
  const Outcome refused = ask({"backup", "-o", file});
  CHECK(refused.exit == Exit::failed);
  CHECK(contains(refused.error, "--force"));
  CHECK(ask({"backup", "-o", file, "--force"}).exit == Exit::answered);
}
