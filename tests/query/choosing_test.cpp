// --filter by memory, and --group by unit, comm and container. Every command selects the same processes, at a time and
// over a range, from ticks and from rollups.

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace choosing_test {

using namespace memoir;
using memoir::test::History;
using memoir::test::recorded;
using Json = nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
const std::string kWeb = "a1a2a3a4a5a6a7a8b1b2b3b4b5b6b7b8a1a2a3a4a5a6a7a8b1b2b3b4b5b6b7b8";
const std::string kShop = "c1c2c3c4c5c6c7c8d1d2d3d4d5d6d7d8c1c2c3c4c5c6c7c8d1d2d3d4d5d6d7d8";

// Two containers and a service. Process 1 uses 300 MiB in the first ten minutes and 50 MiB afterwards; process 2 the
// reverse; process 3 always 80 MiB. Process 4 ran for one tick with 200 MiB.
void record(History& history) {
  history.begin_run();
  history.machine(9'000'000);
  history.birth(1, {"php", "php a", "web", "root", "/docker/" + kWeb}, 300 * kMib);
  history.birth(2, {"php", "php b", "web", "root", "/docker/" + kShop}, 50 * kMib);
  history.birth(3, {"nginx", "nginx", "web", "root", "/system.slice/nginx.service"}, 80 * kMib);
  history.tick(30);
  history.birth(4, {"cc1", "cc1", "other", "root", "/system.slice/ci.service"}, 200 * kMib);
  history.tick(1);
  history.death(4);
  history.tick(29);
  history.hold(1, 50 * kMib);
  history.hold(2, 300 * kMib);
  history.tick(60);
  history.maintain();
  history.end_run();
}

std::string text_of(std::vector<std::string> words) {
  return test::text_of(recorded<record>(), std::move(words));
}

Json rows_of(std::vector<std::string> words) {
  words.emplace_back("--json");
  return Json::parse(text_of(std::move(words)))["rows"];
}

std::set<int> pids_of(const std::vector<std::string>& words) {
  std::set<int> pids;
  for (const Json& row : rows_of(words)) pids.insert(row["pid"].get<int>());
  return pids;
}

using Pids = std::set<int>;

const std::vector<std::string> kWhole{"--from", "2026-11-19", "--to", "2026-11-19 00:20"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("A filter by memory compares the usage at the given time") {
  CHECK(pids_of({"top", "--filter", "rss>100M"}) == Pids{2});
  CHECK(pids_of({"top", "--filter", "pss<=80M"}) == Pids{1, 3});
  CHECK(pids_of({"top", "--at", "2026-11-19 00:01", "--filter", "uss>100M"}) == Pids{1});
  CHECK(pids_of({"processes", "--at", "2026-11-19 00:01", "--filter", "rss>100M"}) == Pids{1});
  const Json rollup = Json::parse(text_of({"export", "--format", "smaps-rollup", "--filter", "pss>100M"}));
  REQUIRE(rollup.size() == 1);
  CHECK(rollup[0]["pid"] == 2);
  CHECK(Json::parse(text_of(
            {"export", "--format", "category-metrics", "--filter", "pss>100M"}))["web_pss"]["summary"]["value"] == 300);
}

TEST_CASE("A subject selects the same processes as a filter") {
  CHECK(pids_of({"top", "nginx"}) == Pids{3});
  CHECK(pids_of({"top", "nginx.service"}) == Pids{3});
  CHECK(pids_of({"top", "php"}) == Pids{1, 2});
  CHECK(pids_of({"top", "2"}) == Pids{2});
  CHECK(pids_of({"top", "machine"}) == Pids{1, 2, 3});
  CHECK(pids_of({"top", "command~b$"}) == Pids{2});
  for (const char* command : {"top", "processes", "peaks"}) {
    CAPTURE(command);
    CHECK(pids_of(with({command, "unit:ci.service"}, kWhole)) == Pids{4});
    CHECK(pids_of(with({command, "category:web", "--filter", "rss<100M"}, kWhole)) == Pids{3});
  }
  CHECK(pids_of({"top", "user:root", "--filter", "comm=nginx"}) == Pids{3});
  const query::Outcome unknown = test::ask(recorded<record>(), {"top", "ngnix"});
  CHECK(unknown.exit == query::Exit::empty);
  CHECK(unknown.error.find("did you mean 'nginx'") != std::string::npos);
}

TEST_CASE("Over a range a filter by memory compares the maximum, with a note") {
  const std::string note = "--filter compares each process by its largest RSS in the range.";
  for (const char* command : {"top", "processes", "peaks"}) {
    CAPTURE(command);
    const auto asked = with({command, "--filter", "rss>100M"}, kWhole);
    CHECK(pids_of(asked) == Pids{1, 2, 4});
    CHECK(pids_of(with({command, "--filter", "rss>=80M", "--filter", "rss<100M"}, kWhole)) == Pids{3});
    CHECK(text_of(asked).find(note) != std::string::npos);
  }
  CHECK(pids_of({"peaks", "--filter", "rss>100M"}) == Pids{1, 2, 4});
  CHECK(pids_of({"diff", "2026-11-19 00:01", "2026-11-19 00:19", "--filter", "rss>100M"}) == Pids{1, 2});
  CHECK(
      text_of({"diff", "2026-11-19 00:01", "2026-11-19 00:19", "--filter", "rss>100M"}).find("RSS of the two times") !=
      std::string::npos);
  Pids exported;
  std::istringstream lines(text_of(with({"export", "processes", "--format", "jsonl", "--filter", "rss>100M"}, kWhole)));
  for (std::string line; std::getline(lines, line);) exported.insert(Json::parse(line)["pid"].get<int>());
  CHECK(exported == Pids{1, 2, 4});
}

TEST_CASE("From rollups a filter by memory has the same result; short-lived processes have their exit's peak") {
  const std::vector<std::string> rolled = with(kWhole, {"--tier", "5min"});
  CHECK(pids_of(with({"top", "--filter", "rss>100M"}, rolled)) == Pids{1, 2, 4});
  CHECK(pids_of(with({"processes", "--filter", "rss>100M"}, rolled)) == Pids{1, 2, 4});
  CHECK(pids_of(with({"peaks", "--filter", "rss>100M"}, rolled)) == Pids{1, 2, 4});
  CHECK(pids_of(with({"peaks", "--filter", "anon>1T"}, rolled)).empty());
}

TEST_CASE("Every command that groups processes can group them by unit, comm and container") {
  const std::string web = "docker:" + kWeb.substr(0, 12);
  const std::string shop = "docker:" + kShop.substr(0, 12);
  const std::map<std::string, std::map<std::string, int>> held{
      {"unit", {{"nginx.service", 80}}},
      {"comm", {{"php", 350}, {"nginx", 80}}},
      {"container", {{web, 50}, {shop, 300}, {"", 80}}},
  };
  for (const auto& [group, sums] : held) {
    CAPTURE(group);
    std::map<std::string, int> top;
    for (const Json& row : rows_of({"top", "--group", group}))
      top[row[group].get<std::string>()] = row["pss_kib"].get<int>() / 1024;
    if (group != "unit") CHECK(top.size() == sums.size());
    for (const auto& [name, mib] : sums) CHECK(top[name] == mib);
    for (const std::vector<std::string>& words : {with({"top"}, kWhole),
                                                  with({"peaks"}, kWhole),
                                                  with({"top", "--tier", "5min"}, kWhole),
                                                  with({"peaks", "--tier", "5min"}, kWhole),
                                                  {"diff", "2026-11-19 00:01", "2026-11-19 00:19"}}) {
      CAPTURE(words);
      const Json rows = rows_of(with(words, {"--group", group}));
      // The two processes swapped their usage, so the sum of their comm is unchanged.
      if (words.front() != "diff" || group == "container") CHECK_FALSE(rows.empty());
      for (const Json& row : rows) CHECK(row[group].is_string());
    }
  }
  CHECK(pids_of({"top", "--filter", "container=" + shop}) == Pids{2});
  CHECK(pids_of({"top", "--filter", "container!="}) == Pids{1, 2});
}

TEST_CASE("A cgroup as a subject includes everything below it, from ticks and from rollups") {
  for (const char* tier : {"raw", "5min"}) {
    CAPTURE(tier);
    for (const auto& [cgroup, mib] :
         {std::pair{std::string("cgroup:/docker"), 350}, {"cgroup:/docker/" + kWeb, 300}, {"cgroup:/", 430}}) {
      CAPTURE(cgroup);
      const Json rows = rows_of(with({"trend", cgroup, "--step", "5m", "--tier", tier}, kWhole));
      REQUIRE_FALSE(rows.empty());
      CHECK(std::llround(rows[0]["mean_kib"].get<double>()) == mib * kMib);
    }
  }
}

}  // namespace choosing_test
