// Every command answers from the databases of the schemas that were released.

#include <filesystem>

#include "query/ask.h"
#include "query/commands.h"
#include "store/reader.h"
#include "support/catch.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::query;

namespace {

namespace fs = std::filesystem;

// All that the command can be asked: as it is, by each metric, in each grouping.
std::vector<std::vector<std::string>> questions(const Command& command) {
  std::vector<std::vector<std::string>> all{{command.name}};
  for (const std::string& group : command.groups) all.push_back({command.name, "--group", group});
  if (command.name == "trend") {
    all.push_back({command.name, "category:web"});
  } else {
    for (const std::string& by : command.by) {
      all.push_back({command.name, "--by", by});
    }
  }
  const auto options = options_of(command);
  if (std::find(options.begin(), options.end(), Option::last) != options.end()) {
    for (std::size_t i = all.size(); i-- > 0;) {
      std::vector<std::string> over = all[i];
      over.insert(over.end(), {"--last", "4h"});
      all.push_back(over);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("Every command reads every schema that was released, and leaves the file as it is") {
  for (const fs::directory_entry& released : fs::directory_iterator(MEMOIR_FIXTURES "/schema")) {
    if (released.path().extension() != ".db") continue;
    const test::TemporaryDirectory directory;
    const std::string path = directory.path() + "/memoir.db";
    fs::copy_file(released.path(), path);
    const std::string bytes = memoir::test::slurp(path);
    std::int64_t last_tick_ms = 0;
    {
      const auto reader = Reader::open(path);
      REQUIRE(reader.ok());
      const auto info = (*reader)->info();
      REQUIRE(info.ok());
      last_tick_ms = info->last_tick_ms;
    }
    for (const Command& command : commands()) {
      for (std::vector<std::string> question : questions(command)) {
        question.insert(question.end(), {"--format", "json"});
        CAPTURE(released.path().string(), question);
        const Outcome outcome = test::ask(path, last_tick_ms + 5000, question);
        CAPTURE(outcome.error);
        // Not all metrics go with all groupings; the machine that the test runs on may ail.
        CHECK((outcome.exit != Exit::failed || command.name == "doctor"));
        CHECK(outcome.out.empty() == (outcome.exit == Exit::usage));
      }
    }
    CHECK(memoir::test::slurp(path) == bytes);
  }
}
