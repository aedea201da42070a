// What an identity is called, which containers are one, and how a file goes on that was begun under another rule.

#include <SQLiteCpp/Database.h>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace identities_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::Person;
using Json = nlohmann::json;

namespace {

std::string container(char digit) {
  return "/docker/" + std::string(64, digit);
}

Person nginx(const std::string& cgroup) {
  return {"nginx", "nginx: worker 7", "web", "root", cgroup};
}

using Names = std::set<std::pair<std::string, std::string>>;

Names named(const Json& answer) {
  Names names;
  for (const Json& row : answer["rows"]) names.emplace(row["identity"], row["title"]);
  return names;
}

}  // namespace

TEST_CASE("Containers that run the same are identities of their own, in every command that groups by them") {
  History history;
  history.begin_run();
  history.tick();
  history.birth(100, nginx(container('a')), 100'000);
  history.birth(200, nginx(container('b')), 200'000);
  history.birth(201, nginx(container('b')), 50'000);
  history.tick(10);
  history.end_run();
  const Names both{{"docker:aaaaaaaaaaaa nginx: worker N", "nginx: worker 7 in docker:aaaaaaaaaaaa"},
                   {"docker:bbbbbbbbbbbb nginx: worker N", "nginx: worker 7 in docker:bbbbbbbbbbbb"}};
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"top"},
                                             {"top", "--last", "1m"},
                                             {"peaks"},
                                             {"peaks", "--last", "1m"},
                                             {"diff", "@" + std::to_string(History::kStart), "now"}}) {
    CAPTURE(words);
    std::vector<std::string> grouped = words;
    grouped.insert(grouped.end(), {"--group", "identity"});
    CHECK(named(json_of(history, grouped)) == both);
    const std::string table = ask(history, grouped).out;
    CAPTURE(table);
    CHECK(table.find("nginx: worker 7 in docker:aaaaaaaaaaaa") != std::string::npos);
    if (words.front() != "peaks") CHECK(table.find("worker N") == std::string::npos);
  }
}

TEST_CASE("A series is asked for by what an identity is called, and headed by it") {
  History history;
  history.begin_run();
  history.birth(100, nginx("/system.slice/web.service"), 100'000);
  history.birth(200, nginx("/system.slice/other.service"), 200'000);
  history.tick(10);
  history.end_run();
  const Outcome outcome = ask(history, {"trend", "nginx: worker 7 in web.service"});
  CAPTURE(outcome.out, outcome.error);
  CHECK(outcome.exit == Exit::answered);
  CHECK(outcome.out.find("PSS of nginx: worker 7 in ") != std::string::npos);
}

}  // namespace identities_test
