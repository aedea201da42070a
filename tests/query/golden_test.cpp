// Answers of each command in each format, from a small recording.

#include "query/golden.h"

#include <filesystem>
#include <regex>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/commands.h"
#include "query/history.h"
#include "query/zone_guard.h"
#include "support/catch.h"

namespace golden_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;

namespace {

constexpr std::int64_t kMib = 1024;

// Ten minutes with a web server, a growing database, a short job, an unreadable process and a zombie. The recorder is
// killed after five minutes and restarted a minute later.
void record(History& history) {
  history.begin_run();
  history.machine(3 * kMib * kMib, 100 * kMib);
  history.birth(101, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/nginx.service"}, 120 * kMib);
  history.birth(102, {"nginx", "nginx: cache manager", "web", "www-data", "/system.slice/nginx.service"}, 8 * kMib);
  history.birth(201, {"postgres", "postgres: main app", "database", "postgres", "/system.slice/postgresql.service"},
                512 * kMib);
  history.birth(301, {"new\nline", "evil \x1b[31m\u202e name, \"quoted\"", "other", "root", "/"}, 40);
  history.tick(12);
  history.birth(401, {"job", "python3 /opt/job.py", "python", "app", "/user.slice"}, 900 * kMib);
  history.approximate(301);
  history.hold(201, 600 * kMib);
  history.tick(6);
  history.death(401);
  history.zombie(102);
  history.machine(2 * kMib * kMib, 100 * kMib);
  history.tick(12);
  history.kill();
  history.pause(60'000);
  history.begin_run();
  history.hold(201, 700 * kMib);
  history.tick(24);
}

constexpr auto ask = test::ask_recorded<record>;

constexpr auto json_of = test::json_recorded<record>;

// Returns a time from the seconds since the start of the recording, which is midnight.
std::int64_t at(std::int64_t seconds) {
  return History::kStart + seconds * 1000;
}

}  // namespace

TEST_CASE("Golden answers") {
  const History& history = recorded<record>();
  const std::string night = "2026-11-19 00:02:30";
  test::check_formats("top", history, {"top"});
  test::check_formats("top-range", history, {"top", "--day", "2026-11-19"});
  test::check_formats("processes", history, {"processes"});
  test::check_formats("process", history, {"process", "201"});
  test::check_formats("events", history, {"events"});
  test::check_formats("diff", history, {"diff", night, "2026-11-19 00:09"}, true);
  test::check_formats("categories", history, {"categories"});
  test::check_formats("", history, {"top", "--at", night, "--by", "rss"});
  test::check_formats("", history, {"top", "--at", night, "--group", "category"});
  test::check_formats("", history, {"top", "--last", "20m", "--by", "growth", "--group", "user", "--limit", "2"});
  test::check_formats("", history, {"diff", "--day", "2026-11-19", "--group", "user", "--by", "rss"}, true);
  test::check_formats("", history, {"categories", "--from", "00:00"});
}

TEST_CASE("Each command has a golden table") {
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    const bool has_table = command.name != "export" && !command.print && !command.interact;
    CHECK(std::filesystem::exists(std::string(MEMOIR_SOURCE "/tests/query/golden/") + command.name + ".table") ==
          has_table);
  }
}

// Masks texts that depend on the machine and the user: folders, users, modes, and sizes of files and disks.
std::string masked(std::string text, const std::string& folder) {
  const std::pair<std::string, const char*> parts[]{
      {folder, "FOLDER"},
      {"DB: owner [^,]+, group [^,]+, mode [0-7]+", "DB: owner USER, group GROUP, mode MODE"},
      {"(ok|warning) +file system [^\n]*\n", ""},  // the folder may be in a tmpfs
      {"[0-9]+ warnings", "N warnings"},
      {"[^ ,\"]+ may read it", "USER may read it"},
      {"[0-9.]+ [KMGT]iB free[^\",\n]*", "SIZE free"},
      {"size_kib\": [0-9]+", "size_kib\": 1"},
      {"[0-9]+,FOLDER", "1,FOLDER"},
      {" +[0-9.]+ FOLDER", " SIZE FOLDER"}};
  for (const auto& [pattern, stand_in] : parts) text = std::regex_replace(text, std::regex(pattern), stand_in);
  return text;
}

TEST_CASE("Golden answers of backup, extract and doctor") {
  const std::string command = GENERATE("backup", "extract", "doctor");
  test::check_formats(command, [&](const std::string& format) {
    const test::TemporaryDirectory directory;
    std::vector<std::string> arguments{command, "--format", format};
    if (command != "doctor") arguments.insert(arguments.end(), {"-o", directory.path() + "/copy.db"});
    if (command == "extract") arguments.insert(arguments.end(), {"--from", "00:02:10", "--to", "00:06"});
    return masked(test::text_of(recorded<record>(), arguments), directory.path());
  });
}

TEST_CASE("Golden answers of export") {
  for (const std::string format : {"csv", "jsonl", "openmetrics"}) {
    const std::vector<std::string> arguments{"export", "machine",  "--from",   "00:02:10",
                                             "--to",   "00:02:40", "--format", format};
    test::compare_with_golden("export-machine." + format, test::text_of(recorded<record>(), arguments));
  }
  for (const std::string format : {"smaps-rollup", "category-metrics"})
    test::compare_with_golden("export." + format, test::text_of(recorded<record>(), {"export", "--format", format}));
}

TEST_CASE("top: each process has a row, ranked, with source and share") {
  const auto answer = json_of({"top", "--at", "2026-11-19 00:02:30"});
  CHECK(answer["command"] == "top");
  CHECK(answer["host"] == "testhost");
  CHECK(answer["at_ms"] == at(150));
  const auto& rows = answer["rows"];
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["pid"] == 401);
  CHECK(rows[0]["pss_kib"] == 900 * kMib);
  CHECK(rows[1]["pid"] == 201);
  CHECK(rows[1]["pss_kib"] == 600 * kMib);
  CHECK(rows[1]["hwm_kib"] == 600 * kMib);
  CHECK(rows[1]["source"] == "exact");
  CHECK(rows[4]["source"] == "approximate");
  CHECK(rows[4]["uss_kib"].is_null());
  CHECK(rows[4]["comm"] == "new\nline");
  const std::int64_t total = (900 + 600 + 120 + 8) * kMib + 40;
  CHECK(answer["totals"]["pss_kib"] == total);
  CHECK(answer["totals"]["inexact"] == 1);
  CHECK(rows[0]["share_percent"].get<double>() == Approx(100.0 * 900 * kMib / static_cast<double>(total)));
}

TEST_CASE("top: groups add up, and omitted rows are counted") {
  const auto answer = json_of({"top", "--at", "2026-11-19 00:02:30", "--group", "category", "--limit", "1"});
  REQUIRE(answer["rows"].size() == 1);
  CHECK(answer["rows"][0]["category"] == "python");
  CHECK(answer["totals"]["cut_rows"] == 3);
  CHECK(answer["totals"]["cut_kib"] == (600 + 120 + 8) * kMib + 40);
  const auto web = json_of({"top", "--at", "2026-11-19 00:02:30", "--group", "category", "--filter", "category=web"});
  REQUIRE(web["rows"].size() == 1);
  CHECK(web["rows"][0]["processes"] == 2);
  CHECK(web["rows"][0]["pss_kib"] == 128 * kMib);
  CHECK(web["totals"]["processes"] == 2);
}

TEST_CASE("top over a range: means add up to the mean of the total, for any lifetimes") {
  for (const char* group : {"process", "category", "user", "cgroup", "command"}) {
    CAPTURE(group);
    const auto answer = json_of({"top", "--day", "2026-11-19", "--group", group});
    std::int64_t sum = 0;
    double share = 0;
    for (const auto& row : answer["rows"]) {
      if (!row["mean_kib"].is_null()) sum += row["mean_kib"].get<std::int64_t>();
      if (!row["share_percent"].is_null()) share += row["share_percent"].get<double>();
    }
    const auto all = json_of({"top", "--day", "2026-11-19", "--group", "process"});
    std::int64_t whole = 0;
    for (const auto& row : all["rows"]) whole += row["mean_kib"].is_null() ? 0 : row["mean_kib"].get<std::int64_t>();
    CHECK(std::abs(sum - whole) <= 5);  // each row may be rounded
    CHECK(share == Approx(100.0).epsilon(0.001));
  }
}

TEST_CASE("top over a range: rows have the maximum, its time, and growth") {
  const auto answer = json_of({"top", "--day", "2026-11-19", "--by", "growth"});
  const auto& rows = answer["rows"];
  CHECK(rows[0]["pid"] == 201);
  CHECK(rows[0]["growth_kib"] == (700 - 512) * kMib);
  CHECK(rows[0]["max_kib"] == 700 * kMib);
  CHECK(rows[0]["max_at_ms"] == at(360));
  CHECK(rows[0]["first_kib"] == 512 * kMib);
  REQUIRE(answer["coverage"]["gaps"].size() >= 1);
  CHECK(answer["range"]["from_ms"] == at(0));
}

TEST_CASE("High-water marks are not summed: a group has its largest member's, and no share") {
  const auto range = json_of({"top", "--day", "2026-11-19", "--by", "hwm", "--group", "category", "--limit", "2"});
  REQUIRE(range["rows"].size() == 2);
  CHECK(range["rows"][0]["category"] == "python");
  CHECK(range["rows"][0]["max_kib"] == 900 * kMib);
  CHECK(range["rows"][0]["max_at_ms"] == at(120));
  CHECK(range["rows"][0]["mean_kib"].is_null());
  CHECK(range["totals"]["cut_max_kib"] == 120 * kMib);
  const std::string table = ask({"top", "--day", "2026-11-19", "--by", "hwm"}).out;
  CHECK(table.find("MAX MiB") != std::string::npos);
  CHECK(table.find("MEAN") == std::string::npos);
  const auto now = json_of({"top", "--at", "2026-11-19 00:02:30", "--by", "hwm", "--group", "user"});
  CHECK(now["rows"][2]["user"] == "www-data");
  CHECK(now["rows"][2]["hwm_kib"] == 120 * kMib);
  CHECK(now["rows"][2]["share_percent"].is_null());
}

TEST_CASE("processes: exited processes have their status, and short-lived ones are listed") {
  const auto answer = json_of({"processes", "--by", "lifetime"});
  REQUIRE(answer["rows"].size() == 5);
  std::map<int, nlohmann::json> row;
  for (const auto& process : answer["rows"]) row[process["pid"].get<int>()] = process;
  CHECK(row[401]["end"] == "ended");
  CHECK(row[401]["ended_ms"] == at(180));
  CHECK(row[401]["hwm_kib"] == 900 * kMib);
  CHECK(row[401]["lifetime_ms"] == 63'000);
  CHECK(row[102]["end"] == "zombie");
  CHECK(row[201]["end"] == "alive");
  CHECK(row[201]["ended_ms"].is_null());
  CHECK(answer["totals"]["exited"] == 2);  // the zombie has exited
  const auto then = json_of({"processes", "--at", "2026-11-19 00:02:30"});
  CHECK(then["at_ms"] == at(150));
  CHECK_FALSE(then.contains("range"));
  CHECK(ask({"processes", "--at", "2026-11-19 00:02:30"}).out.find("ran at this time.") != std::string::npos);
}

TEST_CASE("categories: there are sums at a time, and mean and maximum over a range") {
  const auto now = json_of({"categories", "--at", "2026-11-19 00:02:30"});
  REQUIRE(now["rows"].size() == 4);
  CHECK(now["rows"][0]["category"] == "python");
  CHECK(now["rows"][2]["category"] == "web");
  CHECK(now["rows"][2]["processes"] == 2);
  CHECK(now["rows"][2]["pss_kib"] == 128 * kMib);
  const auto range = json_of({"categories", "--day", "2026-11-19"});
  const auto& database = range["rows"][0];
  CHECK(database["category"] == "database");
  CHECK(database["max_kib"] == 700 * kMib);
  CHECK(database["max_at_ms"] == at(360));
}

TEST_CASE("events: they are in recording order, only of the given kinds, and the newest if limited") {
  const auto all = json_of({"events"});
  REQUIRE(all["rows"].size() == 4);
  CHECK(all["rows"][0]["kind"] == "start");
  CHECK(all["rows"][1]["kind"] == "start");
  CHECK(all["rows"][2]["kind"] == "unclean");
  CHECK(all["rows"][3]["kind"] == "gap");
  CHECK(all["rows"][3]["at_ms"] == at(360));
  const auto gaps = json_of({"events", "--kind", "gap", "--kind", "lost"});
  REQUIRE(gaps["rows"].size() == 1);
  const auto newest = json_of({"events", "--limit", "1"});
  REQUIRE(newest["rows"].size() == 1);
  CHECK(newest["rows"][0]["kind"] == "gap");
  CHECK(newest["totals"]["cut_rows"] == 3);
  CHECK(ask({"events", "--kind", "lost"}).exit == Exit::answered);
  CHECK(ask({"events", "--from", "00:06:30"}).exit == Exit::answered);
  const Outcome misspelt = ask({"events", "--kind", "gpa"});
  CHECK(misspelt.exit == Exit::usage);
  CHECK(misspelt.error.find("did you mean 'gap'") != std::string::npos);
}

TEST_CASE("events: times in sentences are those of the rows, in the time zone") {
  CHECK(ask({"events", "--utc"}).out.find("to 2026-11-19 00:06:00 UTC: killed") != std::string::npos);
  const History& history = recorded<record>();
  const Outcome local = test::ask(history.path(), history.now_ms(), {"events"}, test::kBerlin);
  CHECK(local.out.find("to 2026-11-19 01:06:00: killed") != std::string::npos);
  CHECK(local.out.find("UTC") == std::string::npos);
}

TEST_CASE("If nothing was recorded, the exit status is 3 in every format") {
  for (const char* format : {"table", "json", "csv"}) {
    CAPTURE(format);
    CHECK(ask({"top", "--at", "2026-11-18 12:00", "--format", format}).exit == Exit::empty);
    CHECK(ask({"top", "--day", "2026-11-18", "--format", format}).exit == Exit::empty);
    CHECK(ask({"processes", "--day", "2026-11-18", "--format", format}).exit == Exit::empty);
    CHECK(ask({"categories", "--day", "2026-11-18", "--format", format}).exit == Exit::empty);
  }
  const auto answer = nlohmann::json::parse(ask({"top", "--day", "2026-11-18", "--format", "json"}).out);
  CHECK(answer["rows"].empty());
  CHECK(answer["warnings"].size() == 1);
}

TEST_CASE("CSV without rows consists of the header line") {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"top"}, {"top", "--group", "user"}, {"categories"}, {"processes"}, {"trend"}, {"peaks"}, {"events"}}) {
    CAPTURE(arguments);
    for (const bool range : {true, false}) {
      const bool only_range = arguments[0] == "trend" || arguments[0] == "peaks" || arguments[0] == "events";
      if (!range && only_range) continue;
      const auto names = [&](const std::string& day) {
        std::vector<std::string> words = arguments;
        if (range) {
          words.insert(words.end(), {"--day", day});
        } else {
          words.insert(words.end(), {"--at", day + " 23:59"});
        }
        words.insert(words.end(), {"--format", "csv"});
        return ask(words).out;
      };
      const std::string all = names("2026-11-19");
      const std::string none = names("2026-11-18");
      CHECK_FALSE(none.empty());
      CHECK(none == all.substr(0, all.find('\n') + 1));
    }
  }
}

TEST_CASE("An answer for a time in a gap has the age of its data") {
  const auto answer = json_of({"top", "--at", "2026-11-19 00:05:45"});
  CHECK(answer["at_ms"] == at(290));
  REQUIRE(answer["warnings"].size() == 1);
  CHECK(answer["warnings"][0].get<std::string>().find("55 s") != std::string::npos);
  CHECK(json_of({"top"})["warnings"].empty());
}

TEST_CASE("Arguments that cannot be parsed give exit status 2") {
  CHECK(ask({"top", "--at", "teatime"}).exit == Exit::usage);
  CHECK(ask({"top", "--filter", "colour=red"}).exit == Exit::usage);
  CHECK(ask({"top", "--last", "1h", "--filter", "command~("}).exit == Exit::usage);
  CHECK(ask({"processes", "--filter", "pid=x"}).exit == Exit::usage);
  const Outcome growth = ask({"top", "--by", "growth"});
  CHECK(growth.exit == Exit::usage);
  CHECK(growth.error.find("--last") != std::string::npos);
  CHECK(growth.out.empty());
}

}  // namespace golden_test
