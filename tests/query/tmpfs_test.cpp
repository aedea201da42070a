// memoir tmpfs: the mounts, the contents of a mount, files that grew, and messages if they are unknown.

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "support/catch.h"

namespace tmpfs_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;

TmpfsEntry entry(std::string path, bool directory, std::int64_t kib, std::uint32_t uid = 0) {
  return {std::move(path), directory, kib, 2 * kib, directory ? 3 : 1, uid, History::kStart - 5000};
}

TmpfsSample shm(std::int64_t log_kib, std::int64_t walked_ms) {
  TmpfsSample mount;
  mount.mount_point = "/dev/shm";
  mount.source = "shm";
  mount.walk = TmpfsWalk::whole;
  mount.limit_kib = 1024 * kMib;
  mount.used_kib = log_kib + 110 * kMib;
  mount.inodes = 12;
  mount.walked_ms = walked_ms;
  mount.content = {11, 3, 1, 1, 0, 0, 0, log_kib + 100 * kMib, 2 * log_kib};
  mount.largest = {entry("", true, log_kib + 100 * kMib), entry("app", true, log_kib + 40 * kMib, 70),
                   entry("app/cache/old", false, 40 * kMib, 70), entry("app/log \x1b[31m", false, log_kib, 70),
                   entry("core.1234", false, 60 * kMib)};
  return mount;
}

TmpfsSample run() {
  TmpfsSample mount;
  mount.mount_point = "/run";
  mount.walk = TmpfsWalk::cut;
  mount.used_kib = 9 * kMib;
  mount.inodes = 900;
  mount.walked_ms = History::kStart;
  mount.content = {100, 20, 0, 0, 0, 0, 2, 8 * kMib, 8 * kMib};
  return mount;
}

TmpfsSample locked() {
  TmpfsSample mount;
  mount.mount_point = "/locked";
  mount.walk = TmpfsWalk::not_read;
  mount.limit_kib = 64;
  return mount;
}

void record(History& history) {
  history.begin_run();
  history.birth(201, {"app", "app", "web", "app"}, 20 * kMib);
  history.owner(201, 70);
  history.tmpfs({shm(kMib, History::kStart), locked(), run()});
  history.tick(60);
  history.tmpfs({shm(5 * kMib, History::kStart + 600'000), locked(), run()});
  history.tick(60);
  history.tmpfs({shm(300 * kMib, History::kStart + 1'200'000), locked(), run()});
  history.tick(60);
}

}  // namespace

TEST_CASE("tmpfs: golden answers") {
  test::check_formats("tmpfs", recorded<record>(), {"tmpfs"});
  test::check_formats("tmpfs-mount", recorded<record>(), {"tmpfs", "/dev/shm", "--since", "2026-11-19 00:05"});
}

TEST_CASE("tmpfs: mounts have their fill level, the progress of the walk, and warnings") {
  const json answer = json_of(recorded<record>(), {"tmpfs"});
  REQUIRE(answer["rows"].size() == 3);
  CHECK(answer["rows"][0]["mount_point"] == "/dev/shm");
  CHECK(answer["rows"][0]["used_percent"].get<double>() == Approx(100.0 * 410 / 1024));
  CHECK(answer["rows"][0]["walk_age_ms"] == 590'000);
  CHECK(answer["rows"][1]["limit_kib"].is_null());
  CHECK(answer["rows"][2]["state"] == "not read");
  CHECK(answer["rows"][2]["allocated_kib"].is_null());
  CHECK(answer["warnings"].size() == 2);
  CHECK(answer["largest"][0]["path"] == "app");
}

TEST_CASE("tmpfs: a file has its growth since it was first known and since a given time") {
  const json answer = json_of(recorded<record>(), {"tmpfs", "/dev/shm/", "--from", "2026-11-19 00:15"});
  CHECK(answer["entries"] == 11);
  const json& root = answer["rows"][0];
  REQUIRE(root["children"].size() == 2);
  CHECK(root["children"][1]["path"] == "core.1234");
  const json& app = root["children"][0];
  CHECK(app["owner"] == "app");
  const json& log = app["children"][0];
  CHECK(log["path"] == "app/log \x1b[31m");
  CHECK(log["growth_kib"] == 299 * kMib);
  CHECK(log["since_growth_kib"] == 295 * kMib);
  CHECK(log["before_kib"] == 5 * kMib);
  CHECK(log["grew_ms"] == History::kStart + 1'200'000);
  CHECK(log["logical_kib"] == 600 * kMib);
  CHECK(app["children"][1]["path"] == "app/cache/old");
  CHECK(app["children"][1]["before_kib"].is_null());
  const json before = json_of(recorded<record>(), {"tmpfs", "/dev/shm", "--at", "2026-11-19 00:12"});
  CHECK(before["rows"][0]["children"][1]["children"].size() == 2);
  CHECK(before["used_kib"] == 115 * kMib);
  const json few = json_of(recorded<record>(), {"tmpfs", "/dev/shm", "--limit", "2"});
  CHECK(few["totals"]["cut_rows"] == 3);
}

TEST_CASE("tmpfs: a path within a mount shows the known entries at the path and below it") {
  const json folder = json_of(recorded<record>(), {"tmpfs", "/dev/shm/app/cache/"});
  CHECK(folder["mount_point"] == "/dev/shm");
  CHECK(folder["source"] == "shm");
  CHECK(folder["sockets"] == 1);
  REQUIRE(folder["rows"].size() == 1);
  CHECK(folder["rows"][0]["path"] == "app/cache/old");
  const json app = json_of(recorded<record>(), {"tmpfs", "/dev/shm/app"});
  REQUIRE(app["rows"].size() == 1);
  CHECK(app["rows"][0]["path"] == "app");
  CHECK(app["rows"][0]["children"].size() == 2);
  CHECK(json_of(recorded<record>(), {"tmpfs", "/dev/shm/core.1234"})["rows"][0]["allocated_kib"] == 60 * kMib);
  const Outcome unknown = ask(recorded<record>(), {"tmpfs", "/dev/shm/ap"});
  CHECK(unknown.exit == Exit::empty);
  CHECK(unknown.error.find("only the largest entries of the tmpfs at /dev/shm") != std::string::npos);
}

TEST_CASE("tmpfs: an unknown mount and a recording without tmpfs data are reported") {
  const Outcome wrong = ask(recorded<record>(), {"tmpfs", "/dev/shn"});
  CHECK(wrong.exit == Exit::usage);
  CHECK(wrong.error.find("did you mean '/dev/shm'") != std::string::npos);
  History older;
  older.begin_run();
  older.tick(2);
  const Outcome outcome = ask(older, {"tmpfs"});
  CHECK(outcome.exit == Exit::empty);
  CHECK((outcome.out + outcome.error).find("no tmpfs record") != std::string::npos);
  CHECK(ask(older, {"tmpfs", "--at", "2026-11-18"}).exit == Exit::empty);
}

}  // namespace tmpfs_test
