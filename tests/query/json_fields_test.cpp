// docs/json.md lists the fields of every command's JSON: exactly those that the commands write.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "query/args/options.h"
#include "query/ask.h"
#include "query/commands.h"
#include "support/catch.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

namespace json_fields_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

namespace {

// Names of fields by the place of their object: "answer", "rows", "totals" …
using Fields = std::map<std::string, std::set<std::string>>;

const std::string kPage = MEMOIR_SOURCE "/docs/json.md";
// Fields of every answer.
constexpr std::string_view kCommon[]{"schema_version", "command", "db", "host", "coverage", "warnings"};
constexpr std::string_view kOfCoverage[]{"ticks", "recorded_ms", "runs", "gaps", "from_ms", "to_ms", "reason"};

// Two days with a growing service, a job, a container, an OOM kill, a restart of the recorder, and a leak.
void record(History& history) {
  history.begin_run();
  history.birth(812, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/nginx.service"}, 120'000);
  history.birth(900, {"postgres", "postgres: main", "database", "postgres", "/system.slice/postgresql.service"},
                500'000);
  history.cgroup({"/system.slice/nginx.service", 150'000, 20'000, 0, 400'000, {}, {}});
  history.cgroup({"/docker", 90'000, 10'000, 0, {}, {}, {}});
  history.shmem();
  for (int third = 0; third < 150; ++third) {
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
  history.tick(30);
  history.event("gap", "Nothing was recorded");
  history.estimated(812);
  history.tick(30);
}

// Arguments for answers that together have every field of a command; {} is the command alone.
std::vector<Words> asked_of(const Command& command) {
  const std::map<std::string, std::vector<Words>> more{
      {"top",
       {{"--last", "2h"},
        {"--group", "category"},
        {"--last", "2h", "--group", "identity", "--by", "growth"},
        {"--group", "container"},
        {"--at", "-1d", "--tier", "hour"},
        {"--last", "1d", "--by", "hwm"}}},
      {"trend",
       {{"machine", "web"},
        {"--by", "pressure", "--last", "2h"},
        {"812", "--last", "2h"},
        {"--last", "1d", "--tier", "hour"}}},
      {"peaks",
       {{"--last", "2h"},
        {"--group", "identity"},
        {"--group", "user", "--last", "2h"},
        {"--by", "usage", "--group", "cgroup"}}},
      {"leaks", {{"--all"}, {"--csv", "SERIES", "--explain"}}},
      {"diff", {{"-2h"}, {"-2h", "--group", "identity"}, {"--day", "yesterday"}, {"-1d", "--group", "category"}}},
      {"process", {{"812"}, {"900", "--at", "-1d"}}},
      {"processes", {{"--last", "1d"}, {"--at", "-2h"}}},
      {"mappings", {{"812"}}},
      {"objects", {{"--ownerless"}}},
      {"tmpfs", {{"/dev/shm"}, {"--last", "2h"}}},
      {"tree", {{"812"}, {"--filter", "pid=812"}}},
      {"memory", {{"--at", "-1d"}}},
      {"categories", {{"--last", "1d"}}},
      {"cgroups", {{"--at", "-1d"}, {"nginx"}}},
      {"exits", {{"--last", "1d", "--group", "command"}, {"--last", "1d"}}},
      {"events", {{"--kind", "gap"}}},
      {"incident", {{"--at", "-2h"}}},
      {"summary", {{"--day", "today"}}},
      {"extract", {{"--last", "1h", "-o", "OUT", "--force"}}},
      {"backup", {{"-o", "OUT", "--force"}}},
  };
  const auto found = more.find(command.name);
  std::vector<Words> all = found == more.end() ? std::vector<Words>() : found->second;
  if (command.name != "extract" && command.name != "backup") all.emplace_back();
  return all;
}

// Writes a CSV file with a leak of two weeks.
std::string write_series(const std::string& path) {
  std::ofstream file(path);
  for (int hour = 0; hour < 336; ++hour) file << hour * 3600 << "," << 100'000 + hour * 1000 << "\n";
  return path;
}

// Adds the fields of rarer answers from the golden names: "rows: pid start_ms …".
void add_golden_fields(const Command& command, Fields& fields) {
  for (const auto& entry : std::filesystem::directory_iterator(MEMOIR_SOURCE "/tests/query/golden")) {
    const std::string stem = "-" + entry.path().stem().string() + "-";
    if (entry.path().extension() != ".names" || stem.find("-" + command.name + "-") == std::string::npos) continue;
    std::istringstream lines(test::slurp(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string place;
      words >> place;
      place.pop_back();
      for (std::string word; words >> word;) fields[place].insert(word);
    }
  }
}

void add_fields(const Json& value, const std::string& place, Fields& fields) {
  if (value.is_array()) {
    for (const Json& element : value) add_fields(element, place, fields);
    return;
  }
  if (!value.is_object()) return;
  const bool nested = place.ends_with("children");
  for (const auto& [name, field] : value.items()) {
    fields[place].insert(name);
    if (!nested) add_fields(field, place == "answer" ? name : place + "." + name, fields);
  }
}

Fields fields_of(const Command& command, const History& history) {
  const test::TemporaryDirectory directory;
  Fields fields;
  for (Words words : asked_of(command)) {
    for (std::string& word : words) {
      if (word == "OUT") word = directory.path() + "/copy.db";
      if (word == "SERIES") word = write_series(directory.path() + "/series.csv");
    }
    words.insert(words.begin(), command.name);
    words.emplace_back("--json");
    const Outcome outcome = test::ask(history, words);
    CAPTURE(words, outcome.error);
    CHECK((outcome.exit == Exit::answered || outcome.exit == Exit::empty || command.name == "doctor"));
    if (outcome.out.empty()) continue;
    add_fields(Json::parse(outcome.out), "answer", fields);
  }
  add_golden_fields(command, fields);
  for (const std::string_view name : kCommon) {
    fields["answer"].erase(std::string(name));
    fields.erase(std::string(name));
  }
  fields.erase("coverage.gaps");
  return fields;
}

std::string lines_of(const Fields& fields) {
  std::string text;
  for (const auto& [place, names] : fields) {
    text += "- " + place + ":";
    for (const std::string& name : names) text += " `" + name + "`";
    text += "\n";
  }
  return text;
}

bool has_json(const Command& command) {
  return !command.print && !command.interact && std::ranges::count(command.formats, "json") > 0;
}

// Returns the words in backquotes.
std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`', at)) {
    const std::size_t end = text.find('`', at + 1);
    names.emplace(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return names;
}

}  // namespace

TEST_CASE("docs/json.md has the fields of every command, and no others") {
  History history;
  record(history);
  std::string lists;
  for (const Command& command : commands()) {
    if (has_json(command)) lists += "### " + command.name + "\n\n" + lines_of(fields_of(command, history)) + "\n";
  }
  std::string page = test::slurp(kPage);
  const std::string title = "## Fields by command\n\n";
  const std::size_t begin = page.find(title);
  REQUIRE(begin != std::string::npos);
  if (std::getenv("MEMOIR_UPDATE_GOLDEN") != nullptr) {
    page = page.substr(0, begin + title.size()) + lists;
    std::ofstream(kPage, std::ios::binary) << page;
  }
  CHECK(page.substr(begin + title.size()) == lists);
}

TEST_CASE("docs/json.md explains each field once") {
  const std::string page = test::slurp(kPage);
  const std::size_t end = page.find("## Fields by command");
  std::set<std::string> explained;
  std::istringstream lines(page.substr(0, end));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    for (const std::string& name : names_in(line.substr(0, line.find('|', 1)))) {
      CAPTURE(name);
      CHECK(explained.insert(name).second);
    }
  }
  std::set<std::string> written = names_in(page.substr(end));
  for (const std::string_view name : kCommon) written.emplace(name);
  for (const std::string_view name : kOfCoverage) written.emplace(name);
  for (const std::string& name : written) {
    CAPTURE(name);
    CHECK(explained.contains(name));
  }
  for (const std::string& name : explained) {
    CAPTURE(name);
    CHECK(written.contains(name));
  }
}

}  // namespace json_fields_test
