// top --by growth: an absent process counts as 0 and an exited one as gone, as in diff, from ticks and from rollups.

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace growth_test {

using namespace memoir;
using memoir::test::History;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;

json whole_of(const History& history, std::vector<std::string> words) {
  words.insert(words.end(), {"--limit", "0"});
  return json_of(history, std::move(words));
}

json row_of(const json& answer, const std::string& key, const json& value) {
  for (const json& row : answer["rows"]) {
    if (row[key] == value) return row;
  }
  return {};
}

// A leaking service, a compiler that exits, a new cache, a short job, a process that does not change, and one that has
// just started.
void record(History& history, int ticks) {
  history.begin_run();
  history.birth(1, {"leaky", "leaky", "web", "www-data", "/leaky.service"}, 100 * kMib);
  history.birth(2, {"cc1plus", "cc1plus", "build", "builder", "/build.scope"}, 279 * kMib);
  history.birth(5, {"still", "still", "web", "www-data", "/still.service"}, 50 * kMib);
  history.tick(ticks);
  history.birth(3, {"cache", "cache", "cache", "cache", "/cache.service"}, 10 * kMib);
  history.birth(4, {"job", "job", "job", "job", "/job.service"}, 900 * kMib);
  history.hold(1, 110 * kMib);
  history.tick(ticks);
  history.death(2);
  history.death(4);
  history.hold(1, 120 * kMib);
  history.hold(3, 30 * kMib);
  history.tick(ticks);
  history.birth(6, {"young", "young", "young", "young", "/young.service"}, 25 * kMib);
  history.tick();
  history.maintain();
}

}  // namespace

TEST_CASE(
    "top by growth: started processes grew by all their memory, exited ones shrank by it, brief ones by 0"
    "0") {
  const bool rolled = GENERATE(false, true);
  History history(rolled ? 120'000 : 10'000);
  record(history, rolled ? 40 : 10);
  const json top = whole_of(history, {"top", "--last", "1d", "--by", "growth"});
  CAPTURE(top.dump(1));
  CHECK(top["tier"] == (rolled ? "5min" : "raw"));
  const std::vector<std::tuple<int, std::int64_t, std::string>> expected{
      {3, 30, "new"}, {6, 25, "new"}, {1, 20, "grown"}, {5, 0, "same"}, {4, 0, "came and went"}, {2, -279, "gone"}};
  REQUIRE(top["rows"].size() == expected.size());
  for (const auto& [pid, mib, what] : expected) {
    const json row = row_of(top, "pid", pid);
    CAPTURE(pid);
    REQUIRE(row.is_object());
    CHECK(row["growth_kib"] == mib * kMib);
    CHECK(row["what"] == what);
    CHECK(row["last_kib"].get<std::int64_t>() - row["first_kib"].get<std::int64_t>() == mib * kMib);
  }
  for (const std::size_t i : {0U, 1U, 2U, 5U}) CHECK(top["rows"][i]["pid"] == std::get<0>(expected[i]));
  const std::string table = text_of(history, {"top", "--last", "1d", "--by", "growth"});
  const std::size_t last = table.find("cc1plus");
  CHECK(table.find("leaky") < last);
  const std::size_t line = table.rfind('\n', last);
  CHECK(table.substr(line, last - line).find(" gone ") != std::string::npos);
}

TEST_CASE("top by growth agrees with diff, for every group and tier") {
  const bool rolled = GENERATE(false, true);
  History history(rolled ? 120'000 : 10'000);
  record(history, rolled ? 40 : 10);
  for (const std::string group : {"process", "identity", "command", "category", "cgroup", "user"}) {
    for (const std::vector<std::string>& filter : {std::vector<std::string>{}, {"--filter", "user=www-data"}}) {
      std::vector<std::string> top{"top", "--last", "1d", "--by", "growth", "--group", group};
      std::vector<std::string> diff{"diff", "--last", "1d", "--group", group};
      top.insert(top.end(), filter.begin(), filter.end());
      diff.insert(diff.end(), filter.begin(), filter.end());
      const json grown = whole_of(history, top);
      const json changed = whole_of(history, diff);
      const std::string key = group == "process" ? "pid" : group;
      CAPTURE(group, rolled, filter.size());
      REQUIRE(grown["rows"].size() >= (filter.empty() ? 5 : 1));
      for (const json& row : grown["rows"]) {
        const json change = row_of(changed, key, row[key]);
        CAPTURE(row.dump(), change.dump());
        CHECK(row["growth_kib"] == (change.is_object() ? change["change_kib"] : json(0)));
      }
      for (const json& change : changed["rows"]) CHECK(row_of(grown, key, change[key]).is_object());
    }
  }
}

TEST_CASE("categories over a range: a new category grew by all its memory, and one whose processes exited is gone") {
  History history;
  record(history, 10);
  const json answer = whole_of(history, {"categories", "--last", "1d"});
  CHECK(row_of(answer, "category", "cache")["growth_kib"] == 30 * kMib);
  CHECK(row_of(answer, "category", "build")["growth_kib"] == -279 * kMib);
  CHECK(row_of(answer, "category", "job")["growth_kib"] == 0);
  CHECK(row_of(answer, "category", "web")["growth_kib"] == 20 * kMib);
  CHECK(text_of(history, {"categories", "--last", "1d"}).find(" gone ") != std::string::npos);
}

TEST_CASE("top by hwm: the first of equal marks in a group counts, whichever process had it") {
  const bool rolled = GENERATE(false, true);
  History history(rolled ? 120'000 : 10'000);
  history.begin_run();
  history.birth(1, {"late", "late", "web", "web", "/"}, 10 * kMib);
  history.birth(2, {"early", "early", "other", "other", "/"}, 70 * kMib);
  history.birth(3, {"both", "both", "web", "web", "/"}, 10 * kMib);
  history.birth(4, {"both", "both", "other", "other", "/"}, 20 * kMib);
  history.tick(10);
  history.hold(3, 70 * kMib);
  history.tick(10);
  history.hold(1, 70 * kMib);
  history.hold(4, 70 * kMib);
  history.tick(rolled ? 80 : 10);
  history.maintain();
  const json answer = whole_of(history, {"top", "--last", "1d", "--by", "hwm", "--group", "category"});
  CHECK(answer["tier"] == (rolled ? "5min" : "raw"));
  CHECK(row_of(answer, "category", "web")["max_at_ms"] == History::kStart + (rolled ? 1'200'000 : 100'000));
  CHECK(row_of(answer, "category", "other")["max_at_ms"] == History::kStart);
}

TEST_CASE("top: huge pages count for the rank, at one time, over a range, by group and in peaks") {
  const bool rolled = GENERATE(false, true);
  History history(rolled ? 120'000 : 10'000);
  history.begin_run();
  history.birth(1, {"small", "small", "web", "web", "/a"}, 2 * kMib);
  history.birth(2, {"large", "large", "other", "other", "/b"}, 70 * kMib);
  for (const std::int32_t pid : {1, 2}) {
    history.set(pid, ProcessField::vm_size, 500 * kMib);
    history.set(pid, ProcessField::hugetlb_pages, pid == 1 ? 100 * kMib : 0);
  }
  history.tick(rolled ? 100 : 30);
  history.maintain();
  const json now = json_of(history, {"top"});
  CHECK(now["rows"][0]["comm"] == "small");
  CHECK(now["rows"][0]["hugetlb_pages_kib"] == 100 * kMib);
  CHECK(now["rows"][0]["pss_kib"] == 2 * kMib);
  CHECK(now["rows"][1]["hugetlb_pages_kib"] == 0);
  CHECK(now["totals"]["hugetlb_pages_kib"] == 100 * kMib);
  CHECK(text_of(history, {"top"}).find("HUGETLB") != std::string::npos);
  for (const char* group : {"category", "cgroup", "identity", "user"}) {
    const json groups = json_of(history, {"top", "--group", group});
    CHECK(groups["rows"][0]["hugetlb_pages_kib"] == 100 * kMib);
    const json over = whole_of(history, {"top", "--last", "1d", "--by", "hugetlb", "--group", group});
    CHECK(over["tier"] == (rolled ? "5min" : "raw"));
    // The time after the last complete bucket is in no bucket.
    const json of_pss = whole_of(history, {"top", "--last", "1d", "--by", "pss", "--group", group});
    const std::int64_t expected = of_pss["rows"][1]["mean_kib"].get<std::int64_t>() * 50;
    CHECK(std::abs(over["rows"][0]["mean_kib"].get<std::int64_t>() - expected) <= 50);
  }
  const json peaks = json_of(history, {"peaks", "--by", "hugetlb"});
  REQUIRE(peaks["rows"].size() == 1);
  CHECK(peaks["rows"][0]["comm"] == "small");
  CHECK(peaks["rows"][0]["peak_kib"] == 100 * kMib);
  const json of_cgroups = json_of(history, {"peaks", "--group", "cgroup", "--by", "hugetlb"});
  CHECK(of_cgroups["rows"][0]["peak_kib"] == 100 * kMib);
}

}  // namespace growth_test
