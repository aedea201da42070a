// Names of identities, identities of containers, and a file whose identities were made by an older rule.

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

TEST_CASE("Containers that run the same program are different identities, in every command that groups by them") {
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

TEST_CASE("The heading of an identity's series is the name that selects it") {
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

TEST_CASE("An identity is named by the processes concerned; varying parts of their command lines are marked") {
  const auto worker = [](const std::string& arguments) {
    return Person{"worker.py", "worker.py " + arguments, "batch", "root", "/system.slice/batch.service"};
  };
  constexpr const char* kIdentity = "batch.service worker.py N N N";
  History history;
  history.begin_run();
  history.birth(1, worker("60 1 1"), 1'000);
  history.birth(2, worker("60 6 3"), 10'000);
  history.tick(3);
  history.hold(2, 90'000);
  history.tick();
  const std::string grown = "@" + std::to_string(history.now_ms() - History::kInterval);
  const auto title = [&](const std::vector<std::string>& words) {
    const Json answer = json_of(history, words);
    for (const Json& row : answer["rows"]) {
      if (row["identity"] == kIdentity) return row["title"].get<std::string>();
    }
    return answer.dump();
  };
  const std::string start = "@" + std::to_string(History::kStart);
  CHECK(title({"diff", start, grown, "--group", "identity"}) == "worker.py 60 6 3 in batch.service");
  CHECK(title({"top", "--group", "identity"}) == "worker.py 60 … … in batch.service");
  CHECK(title({"top", "--group", "identity", "--filter", "pid=1"}) == "worker.py 60 1 1 in batch.service");
  const auto part = [&](const std::string& at) {
    const Json answer = json_of(history, {"incident", "--at", at, "--window", "1m"});
    for (const Json& row : answer["rows"]) {
      if (row["part"] == kIdentity) return row["title"].get<std::string>();
    }
    return answer.dump();
  };
  CHECK(part(grown) == "worker.py 60 6 3 in batch.service");
  history.death(2);
  history.birth(3, worker("60 0 30"), 1'000);
  history.tick(2);
  CHECK(title({"diff", grown, "now", "--group", "identity"}) == "worker.py 60 … … in batch.service");
  const Outcome trend = ask(history, {"trend", "identity:worker.py N N N"});
  CAPTURE(trend.out, trend.error);
  CHECK(trend.out.find("PSS of worker.py 60 … … in ") != std::string::npos);
  for (const char* copied : {"worker.py 60 … … in batch.service", "worker.py 60 …", "work… in batch.service",
                             "worker.py 60 6 3 in batch.service", "worker.py 60 0 30 in batch.service (pid 3)"}) {
    CAPTURE(copied);
    CHECK(ask(history, {"trend", copied}).exit == Exit::answered);
  }
  for (const char* other : {"…", "worker.py 61 … in batch.service", "work… in other.service"}) {
    CAPTURE(other);
    CHECK(ask(history, {"trend", other}).exit == Exit::empty);
  }
}

}  // namespace identities_test
