// memoir mappings and memoir objects: mappings of processes, and messages if they are unknown.

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "support/catch.h"

namespace objects_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;
using F = ProcessField;
using K = MappingKind;

namespace {

constexpr std::int64_t kMib = 1024;

MappingUse use(std::int64_t private_kib, std::int64_t shared_kib = 0, std::int64_t mappers = 1) {
  MappingUse use;
  use.regions = 2;
  use.size_kib = 2 * (private_kib + shared_kib);
  use.memory.set(F::rss, private_kib + shared_kib);
  use.memory.set(F::pss, private_kib + shared_kib / mappers);
  use.memory.set(F::shared_clean, 0);
  use.memory.set(F::shared_dirty, shared_kib);
  use.memory.set(F::private_clean, 0);
  use.memory.set(F::private_dirty, private_kib);
  use.memory.set(F::swap, private_kib / 8);
  use.memory.set(F::swap_pss, private_kib / 8);
  return use;
}

ProcessMappings summary(std::vector<MappingRow> rows) {
  ProcessMappings summary{.regions = 7, .cpu_us = 2'800, .wall_us = 3'100};
  summary.summary.rows = std::move(rows);
  return summary;
}

// Two database servers that share a memfd, a cache whose read is deferred, and an unreadable process.
void record(History& history) {
  history.begin_run();
  history.birth(10, {"db", "db --main", "db", "db"}, 600 * kMib);
  history.birth(11, {"db", "db --worker", "db", "db"}, 300 * kMib);
  history.birth(20, {"cache", "cache", "web", "www"}, 200 * kMib);
  history.birth(30, {"secret", "secret", "other", "root"}, 100 * kMib);
  history.birth(40, {"small", "small", "other", "root"}, 1 * kMib);
  ProcessMappings main = summary({{{K::heap, "[heap]"}, use(400 * kMib)},
                                  {{K::memfd, "/memfd:buffers (deleted)"}, use(0, 300 * kMib, 2)},
                                  {{K::file, "/opt/db/bin/db\x1b[31m\u202e"}, use(4 * kMib)},
                                  {{K::anonymous, ""}, use(20 * kMib)}});
  main.summary.others[static_cast<std::size_t>(K::file)] = use(2 * kMib);
  history.summary(10, main);
  history.summary(11, summary({{{K::heap, "[heap]"}, use(100 * kMib)},
                               {{K::memfd, "/memfd:buffers (deleted)"}, use(0, 300 * kMib, 2)}}));
  history.summary(20, summary({{{K::tmpfs, "/dev/shm/cache"}, use(150 * kMib)}}));
  history.summary(30, {.state = MappingState::inaccessible});
  history.tick(60);
  history.summary(20, {.state = MappingState::deferred});
  history.tick(1);
  history.birth(50, {"new", "new", "other", "root"}, 400 * kMib);
  history.summary(50, {.state = MappingState::deferred});
  history.tick(1);
}

void record_no_summaries(History& history) {
  history.begin_run();
  history.birth(1, {"init", "init"}, kMib);
  history.tick(2);
}

constexpr auto json_of = test::json_recorded<record>;

}  // namespace

TEST_CASE("Golden answers of mappings and objects") {
  test::check_formats("mappings", recorded<record>(), {"mappings"});
  test::check_formats("mappings-one", recorded<record>(), {"mappings", "10"});
  test::check_formats("objects", recorded<record>(), {"objects"});
}

TEST_CASE("mappings: the rows are sorted by PSS, with the sum of the others, and add up") {
  const json one = json_of({"mappings", "10"});
  const json& rows = one["rows"];
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["label"] == "[heap]");
  CHECK(rows[1]["label"] == "/memfd:buffers (deleted)");
  CHECK(rows[1]["deleted"] == true);
  CHECK(rows[2]["kind"] == "anonymous");
  CHECK(rows[2]["label"] == "");
  CHECK(rows[4]["kind"] == "file");
  CHECK(rows[4]["label"].is_null());
  CHECK(rows[4]["others"] == true);
  for (const char* name : {"pss_kib", "rss_kib", "uss_kib", "swap_kib", "size_kib", "regions"}) {
    std::int64_t sum = 0;
    for (const json& row : rows) sum += row[name].get<std::int64_t>();
    CHECK(one["totals"][name] == sum);
  }
  CHECK(one["age_ms"] == 61 * History::kInterval);
  CHECK(one["cpu_us"] == 2'800);
  CHECK(one["state"] == "exact");
}

TEST_CASE("mappings: several processes are listed, or one at a given time") {
  CHECK(json_of({"mappings"})["rows"].size() == 5);
  const json db = json_of({"mappings", "comm:db"});
  REQUIRE(db["rows"].size() == 2);
  CHECK(db["rows"][0]["pid"] == 10);
  CHECK(json_of({"mappings", "20"})["warnings"][0].get<std::string>().find("deferred by the CPU budget") !=
        std::string::npos);
  const json before = json_of({"mappings", "20", "--at", "2026-11-19 00:01"});
  CHECK(before["state"] == "exact");
  CHECK(before["age_ms"] == 60'000);
}

TEST_CASE("mappings: a missing reading has its reason and the fix") {
  const auto why = [](const History& history, std::vector<std::string> arguments) {
    const Outcome outcome = ask(history, std::move(arguments));
    CHECK(outcome.exit == Exit::empty);
    return outcome.out + outcome.error;
  };
  CHECK_THAT(why(recorded<record>(), {"mappings", "30"}),
             test::ContainsSubstring("no permission to read the mappings of secret[30]"));
  CHECK_THAT(why(recorded<record>(), {"mappings", "40"}), test::ContainsSubstring("kill -USR1"));
  CHECK_THAT(why(recorded<record>(), {"mappings", "50"}), test::ContainsSubstring("deferred by the CPU budget"));
  for (const char* command : {"mappings", "objects"}) {
    CHECK_THAT(why(recorded<record_no_summaries>(), {command}), test::ContainsSubstring("no mappings were recorded"));
    CHECK_THAT(why(recorded<record>(), {command, "--at", "2020-01-01"}),
               test::ContainsSubstring("nothing was recorded at that time"));
  }
}

TEST_CASE("objects: a shared mapping is listed once, with all its mappers and its share of the machine's memory") {
  const json objects = json_of({"objects"});
  const json& rows = objects["rows"];
  CHECK(rows[0]["label"] == "[heap]");
  CHECK(rows[0]["mappers"] == 2);
  CHECK(rows[0]["largest"] == "db[10]");
  CHECK(rows[1]["label"] == "/memfd:buffers (deleted)");
  CHECK(rows[1]["pss_kib"] == 300 * kMib);
  CHECK(rows[1]["rss_kib"] == 600 * kMib);
  CHECK(objects["totals"]["summaries"] == 3);
  CHECK(objects["totals"]["inaccessible"] == 1);
  CHECK(objects["totals"]["processes"] == 6);
  CHECK(objects["totals"]["summaries_pss_percent"].get<double>() == Approx(100.0 * 1100 / 1601));
  std::int64_t consumed = 0;
  for (const json& consumer : objects["consumers"]) consumed += consumer["label"] == "[heap]" ? 1 : 0;
  CHECK(consumed == 2);
}

TEST_CASE("objects: a kind can be selected, omitted rows are counted, and an unknown kind is an error") {
  const json memfds = json_of({"objects", "--kind", "memfd"});
  CHECK(memfds["rows"].size() == 1);
  CHECK(memfds["consumers"].size() == 2);
  const Outcome cut = ask(recorded<record>(), {"objects", "-n", "1"});
  CHECK_THAT(cut.out, test::ContainsSubstring("1 of 6 rows"));
  const Outcome wrong = ask(recorded<record>(), {"objects", "--kind", "memfs"});
  CHECK(wrong.exit == Exit::usage);
  CHECK_THAT(wrong.error, test::ContainsSubstring("did you mean 'memfd'"));
}

TEST_CASE("objects: segments without a known mapper are listed once each") {
  History history;
  history.begin_run();
  history.birth(10, {"db", "db --main", "db", "db"}, 600 * kMib);
  history.summary(10, summary({{{K::sysv, "/SYSV0000002a (deleted)"}, use(0, 8 * kMib, 2)}}));
  SysvSegment mapped{.shmid = 1, .key = 42};
  mapped.attachments = 2;
  mapped.rss_kib = 9 * kMib;
  SysvSegment same_name{.shmid = 4, .key = 42};
  same_name.rss_kib = 200 * kMib;
  SysvSegment left{.shmid = 2, .key = 0};
  left.rss_kib = 5 * kMib;
  SysvSegment another = left;
  another.shmid = 3;
  another.swap_kib = 1 * kMib;
  history.segments({mapped, left, another, same_name});
  history.tick(3);
  history.end_run();
  const json answer = json::parse(ask(history, {"objects", "--json"}).out);
  const json& rows = answer.at("rows");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].at("label") == "/SYSV0000002a (deleted)");
  CHECK(rows[0].at("memory_kib") == 200 * kMib);
  CHECK(rows[0].at("mappers") == 0);
  CHECK(rows[1].at("label") == "/SYSV00000000 (deleted)");
  CHECK(rows[1].at("rss_kib") == 10 * kMib);
  CHECK(rows[1].at("swap_kib") == 1 * kMib);
  CHECK(rows[1].at("pss_kib").is_null());
  CHECK(rows[1].at("mappers") == 0);
  CHECK(rows[2].at("label") == "/SYSV0000002a (deleted)");
  CHECK(rows[2].at("memory_kib") == 9 * kMib);
  CHECK(rows[2].at("mappers") == 1);
  CHECK(rows[2].at("mappers_about") == 2);
}

TEST_CASE("objects: an object's size is that of its largest mapper, and it may have unknown mappers") {
  History history;
  history.begin_run();
  for (std::int32_t pid = 10; pid < 13; ++pid) {
    history.birth(pid, {"worker", "worker", "other", "root"}, 100 * kMib);
    history.summary(pid, summary({{{K::memfd, "/memfd:x (deleted)"}, use(0, 30 * kMib, 101)}}));
  }
  history.tick(3);
  history.end_run();
  const json row = json::parse(ask(history, {"objects", "--json"}).out).at("rows").at(0);
  CHECK(row.at("memory_kib") == 30 * kMib);
  CHECK(row.at("pss_kib") < kMib);
  CHECK(row.at("mappers") == 3);
  CHECK(row.at("mappers_about") == 101);
  CHECK_THAT(ask(history, {"objects"}).out, test::ContainsSubstring("3 of ~101"));
  const json ownerless = json::parse(ask(history, {"objects", "--ownerless", "--json"}).out).at("rows").at(0);
  CHECK(ownerless.at("held_kib") == 30 * kMib);
  CHECK(ownerless.at("mappers_about") == 101);
}

TEST_CASE("memory: unreadable and outdated mappings cause a warning") {
  const json warnings = json_of({"memory"})["warnings"];
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] == "the mappings of 1 process cannot be read without permission");
  CHECK(warnings[1] == "the mappings of 2 processes were not read in time and may be outdated");
}

TEST_CASE("objects: memory without a process has its mappers, creator and growth") {
  History history;
  history.begin_run();
  history.birth(10, {"db", "db --main", "db", "db"}, 600 * kMib);
  history.birth(20, {"cache", "cache", "web", "www"}, 200 * kMib);
  history.owner(20, 33);
  const auto memfd = [] { return MappingRow{{K::memfd, "/memfd:buffers (deleted)"}, use(0, 300 * kMib, 2)}; };
  history.summary(10, summary({memfd(), {{K::file, "/opt/db/bin/db (deleted)"}, use(4 * kMib)}}));
  history.summary(20, summary({memfd(), {{K::tmpfs, "/dev/shm/ring"}, use(150 * kMib)}}));
  SysvSegment segment{
      .shmid = 9, .creator_pid = 10, .uid = 33, .size_kib = 64 * kMib, .last_pid = 20, .rss_kib = 50 * kMib};
  TmpfsSample mount;
  mount.mount_point = "/dev/shm";
  mount.walk = TmpfsWalk::whole;
  mount.walked_ms = history.now_ms();
  mount.largest = {{"", true, 800 * kMib, 0, 2, 0, 0}, {"ring", false, 700 * kMib, 0, 1, 33, 0}};
  history.segments({segment});
  history.tmpfs({mount});
  history.tick(3);
  segment.rss_kib = 60 * kMib;
  history.segments({segment});
  history.tick(3);
  const json answer = test::json_of(history, {"objects", "--ownerless"});
  const json& rows = answer["rows"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["name"] == "/dev/shm/ring");
  CHECK(rows[0]["held_by"] == "cache[20]");
  CHECK(rows[0]["owner"] == "www");
  CHECK(rows[1]["kind"] == "memfd");
  CHECK(rows[1]["held_kib"] == 300 * kMib);
  CHECK(rows[1]["holders"] == 2);
  CHECK(rows[1]["first_ms"] == History::kStart);
  CHECK(rows[1]["growth_kib"] == 0);
  CHECK(rows[1]["maybe_older"] == true);
  CHECK(rows[2]["kind"] == "SysV segment");
  CHECK(rows[2]["growth_kib"] == 10 * kMib);
  CHECK(rows[2]["made_by"] == "db (10)");
  CHECK(rows[2]["last_used_by"] == "cache (20)");
  CHECK(rows[3]["kind"] == "deleted file");
  CHECK(ask(history, {"objects", "--ownerless"}).out.find("/memfd:buffers") != std::string::npos);
  CHECK_THAT(ask(recorded<record_no_summaries>(), {"objects", "--ownerless"}).out,
             test::ContainsSubstring("no mappings of processes are known"));
}

TEST_CASE("objects: the age and growth of deleted files and memfds are from mapping summaries") {
  History history;
  history.begin_run();
  history.birth(10, {"db", "db --main", "db", "db"}, 600 * kMib);
  history.birth(20, {"cache", "cache", "web", "www"}, 200 * kMib);
  const auto memfd = [](std::int64_t kib, std::int64_t mappers) {
    return MappingRow{{K::memfd, "/memfd:ring (deleted)"}, use(0, kib, mappers)};
  };
  const auto log = [](std::int64_t kib) { return MappingRow{{K::file, "/var/log/db (deleted)"}, use(kib)}; };
  history.summary(10, summary({memfd(300 * kMib, 2)}));
  history.tick(2);
  // Process 20 mapped the memfd before, but its mappings were not read.
  history.summary(20, summary({memfd(300 * kMib, 2)}));
  history.tick(2);
  history.summary(10, summary({memfd(300 * kMib, 2), log(8 * kMib)}));
  const std::int64_t log_ms = history.now_ms();
  history.tick(2);
  // The new process shares a part of the others' memory.
  history.birth(30, {"db", "db --worker", "db", "db"}, 100 * kMib);
  for (const int pid : {20, 30}) history.summary(pid, summary({memfd(300 * kMib, 3)}));
  history.summary(10, summary({memfd(300 * kMib, 3), log(72 * kMib)}));
  history.tick(2);
  const Outcome outcome = ask(history, {"objects", "--ownerless", "--json"});
  CAPTURE(outcome.error);
  REQUIRE(outcome.exit == Exit::answered);
  const json rows = json::parse(outcome.out)["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["kind"] == "memfd");
  CHECK(rows[0]["holders"] == 3);
  CHECK(rows[0]["first_ms"] == History::kStart);
  CHECK(rows[0]["growth_kib"] == 0);
  CHECK(rows[0]["maybe_older"] == true);
  CHECK(rows[1]["kind"] == "deleted file");
  CHECK(rows[1]["first_ms"] == log_ms);
  CHECK(rows[1]["maybe_older"] == false);
  CHECK(rows[1]["growth_kib"] == (64 + 8) * kMib);  // one eighth is swapped out
  CHECK_THAT(ask(history, {"objects", "--ownerless"}).out,
             test::ContainsSubstring("1 mapping was already in the first mapping summaries, and may be older."));
}

}  // namespace objects_test
