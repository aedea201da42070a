// memoir exits: the exit status, and the ranks of unsampled processes among the others.

#include <algorithm>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "support/catch.h"

namespace exits_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;

// A server and short-lived processes.
void record(History& history) {
  history.pause(History::kHour);  // a mark in the day's first tick counts as older than the day
  history.begin_run("bpf");
  history.birth(10, {"server", "/usr/bin/server --all", "web"}, 200 * kMib);
  history.tell_ends();
  history.tick(2);
  history.flash(900, {"spike", "", "other"}, 9'216 * kMib, 9);
  history.flash(901, {"convert", "", "other", "me"}, 60 * kMib);
  history.flash(902, {"convert", "", "other", "me"}, 50 * kMib, 0x300);
  history.flashes("sh", 1'000, 3 * kMib);
  history.flashes("convert", 5, 12 * kMib);
  history.tick(3);
  history.end_run();
}

}  // namespace

TEST_CASE("exits: golden answers") {
  test::check_formats("exits", recorded<record>(), {"exits"});
}

TEST_CASE("exits: groups include summed exits") {
  const json answer = json_of(recorded<record>(), {"exits", "--group", "command"});
  const json& rows = answer["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["command"] == "spike");
  CHECK(rows[1]["command"] == "convert");
  CHECK(rows[1]["processes"] == 7);
  CHECK(rows[1]["peak_kib"] == 60 * kMib);
  CHECK(rows[1]["mean_lived_ms"] == (2 * 40 + 50) / 7);
  CHECK(rows[2]["processes"] == 1'000);
  CHECK(answer["totals"]["ended"] == 1'008);
  CHECK(answer["totals"]["summed"] == 1'005);
  const json filtered = json_of(recorded<record>(), {"exits", "--filter", "user=me"});
  CHECK(filtered["rows"].size() == 2);
  CHECK(filtered["totals"]["ended"] == 2);
}

TEST_CASE("exits: an unsampled process ranks among the peaks and is counted by group") {
  const json peaks = json_of(recorded<record>(), {"peaks"});
  REQUIRE(peaks["rows"].size() == 4);
  const json& first = peaks["rows"][0];
  CHECK(first["pid"] == 900);
  CHECK(first["peak_kib"] == 9'216 * kMib);
  CHECK(first["at_least"] == false);
  CHECK(first["at_ms"].get<std::int64_t>() - first["before_ms"].get<std::int64_t>() == 40);
  CHECK(ask(recorded<record>(), {"peaks"}).out.find("1005 processes ran between two ticks") != std::string::npos);
  const json by_command = json_of(recorded<record>(), {"peaks", "--group", "command", "--by", "hwm"});
  REQUIRE(by_command["rows"].size() == 4);
  CHECK(by_command["rows"][0]["command"] == "spike");
  CHECK(by_command["rows"][1]["command"] == "/usr/bin/server --all");
  CHECK(by_command["rows"][2]["command"] == "convert");
  CHECK(by_command["rows"][2]["processes"] == 7);
  CHECK(by_command["rows"][3]["processes"] == 1'000);
  const json by_user = json_of(recorded<record>(), {"peaks", "--group", "user", "--by", "hwm", "--filter", "user=me"});
  REQUIRE(by_user["rows"].size() == 1);
  CHECK(by_user["rows"][0]["peak_kib"] == 60 * kMib);
}

TEST_CASE("exits: unreported and lost exits cause a warning") {
  History silent;
  silent.begin_run("proc");
  silent.birth(10, {"server", "server", "web"}, 1'000);
  silent.tick(3);
  silent.end_run();
  const json none = json_of(silent, {"exits"});
  CHECK(none["rows"].empty());
  REQUIRE(none["warnings"].size() == 1);
  CHECK(none["warnings"][0].get<std::string>().starts_with("exits are known only from ticks"));
  CHECK(ask(silent, {"peaks"}).out.find("exits are not recorded") != std::string::npos);
  History lossy;
  lossy.begin_run("bpf");
  lossy.tick(2);
  lossy.tell_ends();
  lossy.lost_events(3);
  lossy.tick(2);
  lossy.end_run();
  const json lost = json_of(lossy, {"exits"});
  REQUIRE(lost["warnings"].size() == 2);
  CHECK(lost["warnings"][0] == "2 of 4 ticks have no kernel events of exits");
  CHECK(lost["totals"]["lost_events"] == 3);
  CHECK(ask(lossy, {"exits"}).out.find("No process exited.") != std::string::npos);
  CHECK(ask(silent, {"exits"}).out.find("No process exited.") == std::string::npos);
}

TEST_CASE("exits: the exit status is shown in words") {
  const json rows = json_of(recorded<record>(), {"exits"})["rows"];
  CHECK(rows[0]["signal"] == 9);
  CHECK(rows[0]["status"].is_null());
  CHECK(rows[2]["status"] == 3);
  const std::string table = ask(recorded<record>(), {"exits"}).out;
  CHECK(table.find("SIGKILL") != std::string::npos);
  CHECK(table.find("exit 3") != std::string::npos);
}

TEST_CASE("processes: a process that was first sampled after the range did not run between two ticks") {
  History history;
  history.begin_run();
  history.birth(7, {"app", "/usr/bin/app"}, 500);
  history.tick(3);
  history.birth(8, {"late", "/usr/bin/late"}, 500);
  history.tick(2);
  const std::string until = fmt::format("@{}", History::kStart + 3 * History::kInterval - 1);
  const std::string out = ask(history, {"processes", "--from", "-1h", "--to", until}).out;
  CHECK(out.find("ran in this range") != std::string::npos);
  CHECK(out.find("between two ticks") == std::string::npos);
}

TEST_CASE("processes: an unsampled process has the lifetime and the mark of its exit event") {
  const json rows = json_of(recorded<record>(), {"processes", "--last", "1h"})["rows"];
  const auto spike = std::ranges::find_if(rows, [](const json& row) { return row["pid"] == 900; });
  REQUIRE(spike != rows.end());
  CHECK((*spike)["hwm_kib"] == 9'216 * kMib);
  const json ended = json_of(recorded<record>(), {"exits"})["rows"];
  const auto exit_row = std::ranges::find_if(ended, [](const json& row) { return row["pid"] == 900; });
  REQUIRE(exit_row != ended.end());
  CHECK((*spike)["ended_ms"] == (*exit_row)["ended_ms"]);
  CHECK((*spike)["lifetime_ms"] == (*exit_row)["lived_ms"]);
  const json server = *std::ranges::find_if(rows, [](const json& row) { return row["pid"] == 10; });
  CHECK(server["ended_ms"].is_null());
}

}  // namespace exits_test
