// memoir summary: its answer for a known week in each format, and the folder of summaries.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/render/layout.h"
#include "query/week.h"
#include "store/writer.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace summary_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;
using memoir::test::History;
using memoir::test::kWeekDayMs;
using memoir::test::kWeekLastDay;
using memoir::test::recorded_week;
using memoir::test::slurp;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMib = 1024;

Outcome ask(std::vector<std::string> words) {
  words.insert(words.begin(), {"summary", "--all"});
  return test::ask(recorded_week(), std::move(words));
}

nlohmann::json json_of(std::vector<std::string> words, const char* zone = "UTC") {
  words.insert(words.begin(), {"summary", "--limit", "0"});
  return test::json_of(recorded_week().path(), recorded_week().now_ms(), std::move(words), zone);
}

nlohmann::json find(const nlohmann::json& rows, const char* key, const std::string& value) {
  for (const auto& row : rows) {
    if (row[key] == value) return row;
  }
  FAIL("no row of " << value);
  return {};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The last day. In the time zone of these tests, its last six hours are after midnight in UTC.
const std::vector<std::string> kDay{"--day", "2026-11-26"};

}  // namespace

TEST_CASE("summary: golden answers in each format") {
  std::vector<std::string> arguments = kDay;
  arguments.insert(arguments.begin(), "summary");
  test::check_formats("summary", recorded_week(), arguments, true);
}

TEST_CASE("summary: the day's figures have their times") {
  const auto day = json_of(kDay);
  CHECK(day["day"] == "2026-11-26");
  CHECK(day["tier"] == "5min");
  CHECK(day["used_max_at_ms"] == kWeekLastDay + 9 * History::kHour + 58 * History::kMinute);
  CHECK(day["available_min_kib"] == 16 * kMib * kMib - day["used_max_kib"].get<std::int64_t>());
  CHECK(day["swap_max_kib"] == 1500 * kMib);
  CHECK(day["oom_kills"] == 1);
  REQUIRE(day["oom"].size() == 1);
  CHECK(day["oom"][0]["from_ms"] == kWeekLastDay + 10 * History::kHour);
  CHECK(day["stalled_worst_from_ms"] == kWeekLastDay + 9 * History::kHour + 50 * History::kMinute);
  CHECK(day["recorder_starts"] == 1);
  CHECK(day["recorder_unclean_ends"] == 1);
  CHECK(day["boots"] == 0);
  CHECK(day["recorder_pss_kib"] == 8 * kMib);
  CHECK(day["coverage"]["gaps"].size() == 1);
  REQUIRE(day["rows"].size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(day["rows"][i]["begin_ms"] == History::kStart + static_cast<std::int64_t>(i) * kWeekDayMs);
  }
  CHECK(day["rows"][7]["used_mean_kib"] == day["used_mean_kib"]);
  CHECK(day["rows"][6]["oom_kills"] == 0);
  CHECK(day["rows"][6]["recorded_percent"].get<double>() == Approx(100));
}

TEST_CASE("summary: usage, growth, restarts and highest marks") {
  const auto day = json_of(kDay);
  const auto database = find(day["identities"], "identity", "postgresql.service postgres: main: checkpointer");
  CHECK(database["max_kib"].get<std::int64_t>() > 1600 * kMib);
  // The database grows by at least 3 MiB an hour. A day counts 23 hours, between the middles of its first and last
  // hour; a week counts six days more.
  CHECK(database["grown_day_kib"].get<std::int64_t>() >= 23 * 3 * kMib);
  CHECK(database["grown_week_kib"].get<std::int64_t>() - database["grown_day_kib"].get<std::int64_t>() >=
        6 * 24 * 3 * kMib);
  CHECK(day["grown_day"][0]["identity"] == database["identity"]);
  CHECK(day["grown_week"][0]["grown_kib"] == database["grown_week_kib"]);
  CHECK(find(day["categories"], "category", "backup")["grown_day_kib"] == 0);

  REQUIRE(day["restarts"].size() == 1);
  CHECK(day["restarts"][0]["times"] == 1);
  CHECK(day["restarts"][0]["last_ms"] == kWeekLastDay + 10 * History::kHour);
  CHECK(day["restarts"][0]["hwm_kib"] == day["processes"][0]["hwm_kib"]);
  CHECK(day["processes"][0]["pid"] == 401);
  CHECK(day["processes"][0]["at_ms"] == kWeekLastDay + 9 * History::kHour + 58 * History::kMinute);
  CHECK(day["processes"][1]["comm"] == "pg_dump");
  // The mark of memoird was reached before the day.
  for (const auto& process : day["processes"]) CHECK(process["comm"] != "memoird");
  CHECK(day["processes_started"] == 2);
  CHECK(day["processes_exited"] == 2);
}

TEST_CASE("summary: leaks by the end of the day, none, and too early to decide") {
  const auto day = json_of(kDay);
  const auto leak = find(day["leaks"], "metric", "anon+swap");
  CHECK(leak["subject"] == "postgres: main: checkpointer");
  CHECK(leak["slope_kib_per_day"].get<double>() == Approx(3 * 24 * kMib).epsilon(0.3));
  CHECK(leak["limit"] == "the machine's memory");
  CHECK(leak["until_ms"] <= kWeekLastDay + kWeekDayMs);
  CHECK(std::regex_search(ask(kDay).out, std::regex("MiB\\s+a\\s+day,\\s+and\\s+1\\s+more\\.")));

  const Outcome first = ask({"--day", "2026-11-19"});
  CHECK(json_of({"--day", "2026-11-19"})["leaks"].empty());
  CHECK(has(first.out, "Leaks in the last 30 days\n"));
  CHECK(has(first.out, "none leaks"));

  History young;
  young.begin_run();
  young.birth(100, {"young", "/usr/bin/young"}, 200'000);
  young.tick(30);
  young.end_run();
  const Outcome early = ask(young, {"summary", "--all", "--day", "2026-11-19"});
  CHECK(has(early.out, "Too little history to judge: at most "));
}

TEST_CASE("summary: a program is named by its newest command and its unit, and by its pid if it is one process") {
  const auto day = json_of(kDay);
  const auto java = find(day["identities"], "identity", "app.service java -XmxNg -jar /opt/app/service.jar");
  CHECK(java["title"] == "java -Xmx6g -jar /opt/app/service.jar in app.service");
  CHECK(java["pid"].is_null());  // it was restarted, so it has several pids
  const auto database = find(day["identities"], "identity", "postgresql.service postgres: main: checkpointer");
  CHECK(database["title"] == "postgres: main: checkpointer in postgresql.service");
  CHECK(database["pid"] == 201);
  CHECK(find(day["identities"], "identity", "memoird.service /usr/sbin/memoird")["title"] ==
        "memoird in memoird.service");
  const std::string lead = std::regex_replace(ask(kDay).out, std::regex("\\s+"), " ");
  CAPTURE(lead);
  CHECK(has(lead, "when java -Xmx6g -jar /opt/app/service.jar in app.service used"));
  CHECK(has(lead, "Grew most: postgres: main: checkpointer in postgresql.service (pid 201), by"));
  CHECK(has(lead, "Leaks: postgres: main: checkpointer in postgresql.service (pid 201), "));
  CHECK_FALSE(has(lead, "XmxNg"));
}

TEST_CASE("summary: categories and programs have the same sum") {
  for (const char* date : {"2026-11-19", "2026-11-23", "2026-11-26", "2026-11-27"}) {
    CAPTURE(date);
    const auto day = json_of({"--day", date});
    std::int64_t sums[2] = {0, 0};
    for (const auto& row : day["categories"]) sums[0] += row["mean_kib"].get<std::int64_t>();
    for (const auto& row : day["identities"]) sums[1] += row["mean_kib"].get<std::int64_t>();
    CHECK(std::abs(sums[0] - sums[1]) <= 16);  // each row may be rounded
    CHECK(sums[0] > 1000 * kMib);
  }
}

// The day before is not recorded. The day before that was recorded for three minutes, with half of the later usage.
TEST_CASE("summary: a day is compared with days at least half recorded, and unknown counts are not 0") {
  History history(History::kMinute);
  history.begin_run();
  history.machine(2048 * kMib);
  history.oom_kills(0);
  history.birth(100, {"calm", "/usr/bin/calm", "web", "app", "/system.slice/calm.service"}, 500 * kMib);
  history.tick(4);
  history.end_run();
  history.pause(2 * kWeekDayMs - 4 * History::kMinute);
  history.begin_run();
  history.machine(4096 * kMib);
  history.birth(101, {"calm", "/usr/bin/calm", "web", "app", "/system.slice/calm.service"}, 900 * kMib);
  history.tick(24 * 60 + 1);
  history.end_run();

  const auto day = json_of(history, {"summary", "--day", "2026-11-21"});
  CAPTURE(day.dump());
  CHECK(day["oom_kills"] == 0);
  CHECK(find(day["rows"], "day", "2026-11-21")["oom_kills"] == 0);
  CHECK(find(day["rows"], "day", "2026-11-20")["oom_kills"].is_null());
  CHECK(find(day["rows"], "day", "2026-11-19")["oom_kills"] == 0);
  for (const auto& row : day["identities"]) CHECK(row["grown_week_kib"].is_null());
  const std::string table = ask(history, {"summary", "--all", "--day", "2026-11-21"}).out;
  CAPTURE(table);
  CHECK_FALSE(has(table, "more than in"));
  CHECK(has(table, "1 of these days was recorded for less than half, and not compared with others."));
  // The earlier day has no day before it to be compared with.
  const std::string first = ask(history, {"summary", "--all", "--day", "2026-11-19"}).out;
  CHECK_FALSE(has(first, "than in"));
}

TEST_CASE("summary: the first day has no days before it, and an unfinished day is marked as such") {
  const auto first = json_of({"--day", "2026-11-19"});
  CHECK(first["rows"][0]["used_mean_kib"].is_null());
  CHECK(first["grown_week"].empty());
  CHECK(first["identities"][0]["grown_week_kib"].is_null());
  CHECK_FALSE(has(ask({"--day", "2026-11-19"}).out, "than in"));
  const Outcome today = ask({"--day", "today"});
  CHECK(today.exit == Exit::answered);
  CHECK(has(today.out, "so far"));
  CHECK(json_of({"--day", "2026-11-27"})["over"] == false);
  CHECK(json_of({})["day"] == "2026-11-26");
}

TEST_CASE("summary: an unrecorded day is exit status 3, and an invalid one 2") {
  for (const char* format : {"table", "json", "csv", "markdown", "html"}) {
    CHECK(ask({"--day", "2026-11-01", "--format", format}).exit == Exit::empty);
  }
  CHECK(ask({"--day", "someday"}).exit == Exit::usage);
  CHECK(ask({"--format", "yaml"}).exit == Exit::usage);
}

TEST_CASE("summary: a local day has 25 hours if the clock is set back, and 23 if it is set forward") {
  struct Change {
    const char* zone;
    std::int64_t hours;
  };
  // Time zones that change their offset on Sunday, 22 November.
  const Change change = GENERATE(Change{"XST0XDT,M6.3.0,M11.4.0/3", 25}, Change{"XST0XDT,M11.4.0/2,M6.3.0", 23});
  const auto sunday = json_of({"--day", "2026-11-22"}, change.zone);
  CHECK(sunday["range"]["to_ms"].get<std::int64_t>() + 1 - sunday["range"]["from_ms"].get<std::int64_t>() ==
        change.hours * History::kHour);
  CHECK(sunday["rows"][7]["recorded_percent"].get<double>() == Approx(100).epsilon(0.001));
  const auto monday = json_of({"--day", "2026-11-23"}, change.zone);
  CHECK(monday["rows"][6]["begin_ms"] == sunday["range"]["from_ms"]);
  CHECK(monday["range"]["from_ms"].get<std::int64_t>() == sunday["range"]["to_ms"].get<std::int64_t>() + 1);
  // Some programs run on only one of the two days. The mean of both days is weighted by their hours.
  CHECK(monday["rows"][6]["used_mean_kib"] == sunday["used_mean_kib"]);
}

TEST_CASE("summary: 80 columns unless it goes to a terminal") {
  const std::string text = ask(kDay).out;
  for (const std::string& line : lines_of(text)) {
    CAPTURE(line);
    CHECK(display_width(line) <= 80);
  }
  CHECK(lines_of(text).size() > 40);
}

TEST_CASE("summary: the page is self-contained, loads nothing and runs nothing") {
  std::vector<std::string> arguments = kDay;
  arguments.insert(arguments.end(), {"--format", "html"});
  const std::string page = ask(arguments).out;
  for (const char* reference : {"http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<img",
                                "<iframe", "<object", "<embed", "<form", "<base", "javascript:", "xlink", "<use"}) {
    CAPTURE(reference);
    CHECK_FALSE(has(page, reference));
  }
  CHECK_FALSE(std::regex_search(page, std::regex("\\son[a-z]+=")));
  for (const char* part : {"<!DOCTYPE html>", "charset=\"utf-8\"", "name=\"viewport\"", "prefers-color-scheme:dark",
                           "@media print", "<svg", "role=\"img\"", "tabular-nums", "scope=\"col\""}) {
    CAPTURE(part);
    CHECK(has(page, part));
  }
  // The name of a process has this text.
  CHECK(has(page, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  CHECK_FALSE(has(page, "\x1b"));
  CHECK_FALSE(has(page, "\xe2\x80\xae"));
  CHECK(has(page, "\xe6\x97\xa5\xe6\x9c\xac"));
}

TEST_CASE("summary: every tag of the page is closed") {
  std::vector<std::string> arguments = kDay;
  arguments.insert(arguments.end(), {"--format", "html"});
  const std::string page = ask(arguments).out;
  const std::regex tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  std::vector<std::string> open;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), tag); at != std::sregex_iterator(); ++at) {
    const std::string name = (*at)[2];
    if ((*at)[3] == "/" || name == "meta") continue;
    if ((*at)[1] != "/") {
      open.push_back(name);
      continue;
    }
    REQUIRE_FALSE(open.empty());
    REQUIRE(open.back() == name);
    open.pop_back();
  }
  CHECK(open.empty());
}

TEST_CASE("summary: gaps are gaps in the chart, and an absent subject is at 0") {
  std::vector<std::string> arguments = kDay;
  arguments.insert(arguments.end(), {"--format", "html"});
  const std::string page = ask(arguments).out;
  const std::size_t chart = page.find("aria-label=\"Memory in use\"");
  REQUIRE(chart != std::string::npos);
  const std::string svg = page.substr(chart, page.find("</svg>", chart) - chart);
  CHECK(has(svg, "class=\"gap\""));
  const std::size_t line = svg.find("class=\"line\" d=\"");
  REQUIRE(line != std::string::npos);
  const std::string path = svg.substr(line, svg.find("/>", line) - line);
  CHECK(std::count(path.begin(), path.end(), 'M') == 2);  // one path before the gap and one after it
}

TEST_CASE("summary: names cannot add Markdown markup") {
  std::vector<std::string> arguments = kDay;
  arguments.insert(arguments.end(), {"--format", "markdown"});
  const std::string text = ask(arguments).out;
  CHECK(has(text, "&lt;script&gt;"));
  CHECK(has(text, "\\`rm\\`"));
  std::size_t columns = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.rfind('|', 0) != 0) {
      columns = 0;
      continue;
    }
    const auto cells = static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
    if (columns == 0) columns = cells;
    CAPTURE(line);
    CHECK(cells == columns);
  }
}

// Rolls up all ticks, and deletes all but the last day of ticks.
void forget_ticks(const std::string& path, std::int64_t now_ms) {
  auto writer = Writer::open(path, Durability::normal);
  REQUIRE(writer);
  const Moment now{now_ms, 86'400'000 + now_ms - History::kStart};
  const BootInfo boot{"11111111-2222-4333-8444-555555555555", History::kStart - 86'400'000, "testhost", "6.1.0-test"};
  REQUIRE((*writer)->begin_run({boot, 4242, "0.1.0 (test)", 120'000, now, {.raw_ms = kWeekDayMs}}));
  for (bool more = true; more;) {
    const Result<Maintenance> done = (*writer)->maintain();
    REQUIRE(done);
    more = done->more;
  }
}

TEST_CASE("summary: the same after raw rows are rolled up, and after they expire") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/memoir.db";
  const History& week = test::raw_week();
  for (const char* suffix : {"", "-wal"}) fs::copy_file(week.path() + suffix, path + suffix);
  const auto of = [&](const char* date) {
    auto json = test::json_of(path, week.now_ms(), {"summary", "--day", date, "--limit", "0"});
    // Only ticks have their cost, their number, zombies, and usage of cgroups.
    for (const char* key :
         {"recorder_core_percent", "recorder_cpu_us_per_tick", "coverage", "leaks_judged", "limits_known"})
      json.erase(key);
    return json;
  };
  const auto before = of("2026-11-24");
  const auto last = of("2026-11-26");
  forget_ticks(path, week.now_ms());
  CHECK(nlohmann::json::diff(before, of("2026-11-24")).dump() == "[]");
  CHECK(nlohmann::json::diff(last, of("2026-11-26")).dump() == "[]");
  const Result<std::unique_ptr<Reader>> reader = Reader::open(path);
  REQUIRE(reader);
  CHECK((*reader)->ticks({History::kStart, kWeekLastDay - kWeekDayMs})->empty());
}

TEST_CASE("summary: writes the days that are missing, once each, and prints the latest") {
  const test::TemporaryDirectory directory;
  const std::string folder = directory.path();
  const Outcome all = ask({"--write-missing", folder});
  CAPTURE(all.error);
  REQUIRE(all.exit == Exit::answered);
  for (int day = 19; day <= 26; ++day) {
    const std::string stem = folder + "/2026-11-" + std::to_string(day);
    CHECK(has(slurp(stem + ".html"), "<!DOCTYPE html>"));
    CHECK(has(slurp(stem + ".txt"), "November 2026"));
  }
  CHECK_FALSE(fs::exists(folder + "/2026-11-27.html"));  // this day is not over
  std::string lines = all.out;                           // line breaks depend on the length of the folder's name
  std::ranges::replace(lines, '\n', ' ');
  const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  lines.erase(std::unique(lines.begin(), lines.end(), both_blank), lines.end());
  CHECK(has(lines, "8 days, 2026-11-19 to 2026-11-26"));
  CHECK(has(all.out, "Thursday, 26"));
  CHECK(slurp(folder + "/2026-11-26.txt") == ask(kDay).out);

  const Outcome none = ask({"--write-missing", folder});
  CHECK(none.exit == Exit::answered);
  CHECK(has(none.out, "no day is missing"));

  fs::remove(folder + "/2026-11-22.txt");
  const Outcome one = ask({"--write-missing", folder});
  CHECK(has(one.out, "2026-11-22.html"));
  CHECK(fs::exists(folder + "/2026-11-22.txt"));
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 16);
}

TEST_CASE("summary: keeps 400 days, and deletes only its own files") {
  const test::TemporaryDirectory directory;
  const std::string folder = directory.path();
  for (int i = 0; i < 400; ++i) {
    const std::string date = fmt::format("2025-{:02}-{:02}", 1 + i / 34, 1 + i % 34);
    std::ofstream(folder + "/" + date + ".html") << "x";
    std::ofstream(folder + "/" + date + ".txt") << "x";
  }
  for (const char* name : {"notes.txt", "2020-01-01.html.bak", "2020-01-01.pdf", "2020-1-1.txt"}) {
    std::ofstream(folder + "/" + name) << "x";
  }
  REQUIRE(ask({"--write-missing", folder}).exit == Exit::answered);
  std::size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(folder)) pages += entry.path().extension() == ".html" ? 1U : 0U;
  CHECK(pages == 400);
  CHECK_FALSE(fs::exists(folder + "/2025-01-08.html"));
  CHECK_FALSE(fs::exists(folder + "/2025-01-08.txt"));
  CHECK(fs::exists(folder + "/2025-01-09.html"));
  CHECK(fs::exists(folder + "/2026-11-26.html"));
  for (const char* name : {"notes.txt", "2020-01-01.html.bak", "2020-01-01.pdf", "2020-1-1.txt"}) {
    CHECK(fs::exists(folder + "/" + name));
  }
}

TEST_CASE("summary: a missing or unwritable folder is reported") {
  const test::TemporaryDirectory directory;
  const Outcome absent = ask({"--write-missing", directory.path() + "/none"});
  CHECK(absent.exit == Exit::failed);
  CHECK(has(absent.error, "mkdir -p"));
  fs::create_directory(directory.path() + "/2026-11-19.html.partial");
  const Outcome blocked = ask({"--write-missing", directory.path()});
  CHECK(blocked.exit == Exit::failed);
  CHECK(has(blocked.error, "2026-11-19.html"));
}

}  // namespace summary_test
