// Answers of status, trend and peaks from a small recording. Each format is compared with tests/query/golden (rewritten
// if MEMOIR_UPDATE_GOLDEN is set), and the numbers are checked.

#include <set>
#include <sstream>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "query/on_screen.h"
#include "query/render/layout.h"
#include "query/render/terminal.h"
#include "query/zone_guard.h"
#include "support/catch.h"

namespace reports_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using Json = nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kGib = 1024 * 1024;

// Returns a time from the seconds since the start of the recording, which is midnight.
std::int64_t at(std::int64_t seconds) {
  return History::kStart + seconds * 1000;
}

// Three hours with a database that grows by 1 MiB a tick, a job that runs for four ticks between two keyframes and has
// an unsampled spike, a restarted worker, and a hostile name. The recorder is killed in the second hour and restarted
// ten minutes later.
void record(History& history) {
  history.begin_run();
  history.machine(3 * kGib);
  history.birth(4242, {"memoird", "/usr/bin/memoird", "memoir", "memoir", "/system.slice/memoird.service"}, 9 * kMib);
  history.birth(201, {"postgres", "postgres: main", "database", "postgres", "/system.slice/postgresql.service"},
                512 * kMib);
  history.birth(301, {"a\nb", "evil \x1b[31m\u202e x, \"y\"", "other", "root", "/"}, 40);
  history.tick();
  for (int i = 1; i <= 60; ++i) {
    history.hold(201, (512 + i) * kMib);
    history.tick();
  }
  history.machine(9 * kGib, 64 * kMib);
  history.birth(401, {"job", "python3 /opt/job.py", "python", "app", "/user.slice"}, 900 * kMib);
  history.tick(2);
  history.mark(401, 3000 * kMib);
  history.hold(401, 200 * kMib);
  history.tick(2);
  history.death(401);
  history.machine(3 * kGib);
  history.birth(402, {"job", "python3 /opt/job.py", "python", "app", "/user.slice"}, 500 * kMib);
  history.tick(400);
  history.kill();
  history.pause(600'000);
  history.begin_run();
  history.event("degraded", "smaps_rollup of other users may not be read: CAP_SYS_PTRACE is missing");
  history.approximate(402);
  history.tick(550);
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t found = text.find(what); found != std::string::npos; found = text.find(what, found + by.size())) {
    text.replace(found, what.size(), by);
  }
}

// Replaces the recorder's pid, which is the test's own and differs between runs.
void hide_ourselves(std::string& text) {
  const std::string pid = std::to_string(getpid());
  replace(text, ", pid " + pid, ", pid PID");
  replace(text, "\"recorder_pid\": " + pid, "\"recorder_pid\": 1");
}

std::int64_t asked_ms() {
  return recorded<record>().now_ms() - 6000;
}

Outcome ask(std::vector<std::string> words) {
  Outcome outcome = test::ask(recorded<record>().path(), asked_ms(), std::move(words));
  hide_ourselves(outcome.out);
  return outcome;
}

Json json_of(std::vector<std::string> words) {
  return test::json_of(recorded<record>().path(), asked_ms(), std::move(words));
}

// Returns the answer as on a terminal of this size.
std::string on_terminal(std::vector<std::string> arguments, Screen screen) {
  const test::ZoneGuard zone("UTC");
  std::string text = test::answer_on_screen(recorded<record>().path(), asked_ms(), arguments, screen).value();
  hide_ourselves(text);
  return text;
}

// Removes sizes of the file, which depend on SQLite's version.
std::string without_sizes(std::string text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("a day (from") == std::string::npos) out += line + "\n";
  }
  return out;
}

Json row_of(const Json& rows, const char* key, const Json& value) {
  for (const Json& row : rows) {
    if (row.at(key) == value) return row;
  }
  FAIL("no row with " << key << " " << value);
  return {};
}

}  // namespace

TEST_CASE("golden answers of status, trend and peaks") {
  const auto check = [](const char* name, const std::vector<std::string>& words) {
    test::check_formats(name, [&](const std::string& format) {
      std::vector<std::string> arguments = words;
      arguments.insert(arguments.end(), {"--format", format});
      const Outcome outcome = ask(arguments);
      CHECK(outcome.exit == Exit::answered);
      CHECK(outcome.error.find("memoir: '") == std::string::npos);
      return format == "table" ? without_sizes(outcome.out) : outcome.out;
    });
  };
  check("status", {"status"});
  check("trend", {"trend", "machine"});
  check("peaks", {"peaks"});
  check("", {"trend", "database", "--step", "30m", "--by", "rss"});
  check("", {"peaks", "--last", "2h"});
  check("", {"peaks", "--group", "category"});
  check("", {"peaks", "--group", "user"});
}

TEST_CASE("on a terminal the trend is drawn and fits it") {
  const auto [columns, lines] = GENERATE(std::pair{80, 24}, std::pair{100, 50}, std::pair{60, 20});
  const bool ascii = GENERATE(false, true);
  std::vector<std::string> arguments{"trend", "201"};
  if (ascii) arguments.emplace_back("--ascii");
  const std::string text = on_terminal(arguments, {static_cast<std::size_t>(columns), static_cast<std::size_t>(lines)});
  std::istringstream in(text);
  int height = 1;  // one line for the prompt
  for (std::string line; std::getline(in, line);) {
    // A line that is too long would wrap.
    height += std::max(1, (static_cast<int>(display_width(line)) + columns - 1) / columns);
    if (ascii) CHECK(line.find("█") == std::string::npos);
  }
  CAPTURE(text);
  CHECK(height <= lines);
  CHECK(text.find(ascii ? "####" : "████") != std::string::npos);
  if (columns == 80 && !ascii) test::compare_with_golden("trend-terminal.table", text);
}

TEST_CASE("status: shows the recording, missed ticks, and the cost") {
  const Json status = json_of({"status"});
  CHECK(status["recording"] == true);
  CHECK(status["state"] == "recording");
  CHECK(status["runs"] == 2);
  CHECK(status["restarts"] == 1);
  CHECK(status["unclean_ends"] == 1);
  CHECK(status["interval_ms"] == 10'000);
  CHECK(status["processes"] == 4);
  CHECK(status["kernel_threads"] == 7);
  CHECK(status["denied"] == 1);
  CHECK(status["cpu_us_per_tick"] == 10'000.0);
  CHECK(status["cpu_us_per_tick_p95"] == 10'000);
  CHECK(status["core_percent"] == 0.1);
  CHECK(status["recorder_rss_kib"] == 9 * kMib);
  CHECK(status["file_bytes_per_day"].is_number());
  CHECK(status["file_bytes_max"] == std::int64_t{2} << 30);
  CHECK(status["file_bytes_max_in_days"].is_number());
  CHECK(status["coverage"]["gaps"].size() == 1);
  CHECK(status["degraded"].size() == 1);
  CHECK(status["rows"].size() == 2);
}

TEST_CASE("trend: the machine's buckets add up, and the gap is a gap") {
  const Json trend = json_of({"trend", "machine", "--step", "5m"});
  CHECK(trend["metric"] == "used");
  CHECK(trend["max_kib"] == 9 * kGib);
  CHECK(trend["max_at_ms"] == at(610));
  CHECK(trend["max_until_ms"] == at(650));
  CHECK(trend["min_kib"] == 3 * kGib);
  std::int64_t covered = 0;
  std::int64_t empty = 0;
  for (const Json& row : trend["rows"]) {
    covered += row["covered_ms"].get<std::int64_t>();
    if (!row["mean_kib"].is_null()) continue;
    ++empty;
    CHECK(row["covered_ms"] == 0);
    CHECK(row["min_kib"].is_null());
  }
  CHECK(empty >= 1);
  CHECK(covered == trend["covered_ms"]);
  CHECK(covered == trend["coverage"]["recorded_ms"]);
}

TEST_CASE("trend: a growing process has a slope, one between two keyframes is included") {
  const Json grows = json_of({"trend", "201", "--to", "@" + std::to_string(at(600))});
  CHECK(grows["first_kib"] == 512 * kMib);
  CHECK(grows["last_kib"] == 572 * kMib);
  CHECK(grows["growth_kib"] == 60 * kMib);
  // Ten minutes are too short for a slope per day.
  CHECK(grows["slope_kib_per_day"].is_null());
  CHECK(grows["p50_kib"].get<std::int64_t>() == Approx(541 * kMib).margin(2 * kMib));
  CHECK(grows["p99_kib"].get<std::int64_t>() <= grows["max_kib"].get<std::int64_t>());

  const Json brief = json_of({"trend", "401"});
  CHECK(brief["max_kib"] == 900 * kMib);
  CHECK(brief["covered_ms"] == 40'000);
  CHECK(brief["slope_kib_per_day"].is_null());
}

TEST_CASE("trend: several subjects have a chart each on a terminal, and rows each in data formats") {
  const std::string text = on_terminal({"trend", "machine", "database"}, {80, 24});
  CAPTURE(text);
  int height = 1;  // one line for the prompt
  std::istringstream in(text);
  for (std::string line; std::getline(in, line); ++height) CHECK(display_width(line) <= 80);
  CHECK(height <= 24);
  for (const char* part : {"memory in use", "PSS of category database", "SUBJECT", "/DAY"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  const std::vector<std::string> arguments{"trend", "machine", "database", "201", "--step", "1h"};
  const Json several = json_of(arguments);
  REQUIRE(several["series"].size() == 3);
  CHECK(several["series"][1]["subject"] == "database");
  CHECK(several["series"][1]["max_kib"] == json_of({"trend", "database"})["max_kib"]);
  std::set<std::string> subjects;
  for (const Json& row : several["rows"]) subjects.insert(row["subject"]);
  CHECK(subjects == std::set<std::string>{"machine", "database", "201"});
  CHECK(several["rows"].size() == 3 * json_of({"trend", "machine", "--step", "1h"})["rows"].size());
}

TEST_CASE("trend: the sum of a category is one series, with its inexact part") {
  const Json trend = json_of({"trend", "python"});
  CHECK(trend["processes"] == 2);
  CHECK(trend["max_kib"] == 900 * kMib);
  CHECK(trend["last_kib"] == 500 * kMib);
  REQUIRE(trend["warnings"].size() == 1);
  CHECK(trend["warnings"][0].get<std::string>().find("PSS is estimated, or RSS") != std::string::npos);
}

TEST_CASE("trend: an unknown subject or metric is an error that lists the known ones") {
  const auto [arguments, part] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"trend", "databose"}, "did you mean 'database'"},
      {{"trend", "99999"}, "no process 99999 was sampled at that time"},
      {{"trend", "machine", "--by", "pss"}, "does not apply to the machine"},
      {{"trend", "database", "--by", "used"}, "does not apply to a process"},
      {{"trend", "database", "--by", "hwm"}, "have no sum"},
      {{"trend", "--step", "0s"}, "must be longer than 0"},
      {{"trend", "--step", "1ms"}, "too many"},
      {{"peaks", "--by", "rss"}, "is hwm"},
  }));
  const Outcome outcome = ask(arguments);
  CAPTURE(outcome.error, outcome.out);
  // The subject is valid, but has no data.
  const bool unknown = arguments.back() == "databose" || arguments.back() == "99999";
  CHECK(outcome.exit == (unknown ? Exit::empty : Exit::usage));
  CHECK(outcome.out.empty());
  CHECK(outcome.error.find(part) != std::string::npos);
}

TEST_CASE("an unrecorded range is reported as such") {
  const char* command = GENERATE("trend", "peaks");
  const Outcome outcome = ask({command, "--day", "2026-11-17"});
  CHECK(outcome.exit == Exit::empty);
  CHECK(outcome.out.find("nothing was recorded") != std::string::npos);
}

TEST_CASE("peaks: the mark of an unsampled spike, and other processes at that time") {
  const Json peaks = json_of({"peaks"});
  CHECK(peaks["all_time"] == true);
  const Json& first = peaks["rows"][0];
  CHECK(first["pid"] == 401);
  CHECK(first["peak_kib"] == 3000 * kMib);
  CHECK(first["at_ms"] == at(630));
  CHECK(first["before_ms"] == at(620));
  CHECK(first["now_kib"] == 200 * kMib);
  CHECK(first["ratio"] == 15.0);
  CHECK(first["alive"] == false);
  CHECK(row_of(peaks["machine"], "metric", "used")["peak_kib"] == 9 * kGib);
  CHECK(row_of(peaks["machine"], "metric", "used")["at_ms"] == at(610));
  CHECK(row_of(peaks["machine"], "metric", "used")["now_kib"] == 3 * kGib);
  CHECK(row_of(peaks["machine"], "metric", "available")["peak_kib"] == 7 * kGib);
  CHECK(row_of(peaks["machine"], "metric", "swap")["peak_kib"] == 64 * kMib);
  CHECK(row_of(peaks["categories"], "category", "database")["peak_kib"] == 572 * kMib);
  const Json other = row_of(peaks["others"], "of", "process 401");
  CHECK(other["pid"] == 201);
  CHECK(other["pss_kib"] == 572 * kMib);
  CHECK(row_of(peaks["others"], "of", "machine used")["pid"] == 401);
}

TEST_CASE("peaks: only marks that were reached within the range count") {
  const Json peaks = json_of({"peaks", "--last", "1h"});
  CHECK(peaks["all_time"] == false);
  CHECK(row_of(peaks["rows"], "pid", 402)["peak_kib"] == 500 * kMib);
  for (const Json& row : peaks["rows"]) CHECK(row["pid"] != 401);
  CHECK(row_of(peaks["machine"], "metric", "used")["peak_kib"] == 3 * kGib);
}

TEST_CASE("peaks: a group's peak is that of the sum at one time") {
  // The job and the next one never ran at the same time.
  const Json users = json_of({"peaks", "--group", "user"});
  const Json app = row_of(users["rows"], "user", "app");
  CHECK(app["peak_kib"] == 900 * kMib);
  CHECK(app["at_ms"] == at(610));
  CHECK(app["before_ms"] == at(600));
  CHECK(app["now_kib"] == 500 * kMib);

  // The store's marks and the steps have the same peak.
  const Json marks = json_of({"peaks", "--group", "category"});
  const Json steps = json_of({"peaks", "--group", "category", "--last", "7d", "--filter", "command~."});
  REQUIRE(marks["rows"].size() == steps["rows"].size());
  for (const Json& row : marks["rows"]) {
    const Json same = row_of(steps["rows"], "category", row["category"]);
    for (const char* key : {"peak_kib", "at_ms", "before_ms", "now_kib"}) CHECK(row[key] == same[key]);
  }
}

TEST_CASE("status: nothing recorded, and not recording") {
  History empty;
  empty.begin_run();
  const std::int64_t now_ms = empty.now_ms() + 1000;
  CHECK(test::ask(empty.path(), now_ms, {"status"}).exit == Exit::empty);
  empty.birth(4242, {"memoird", "memoird", "memoir", "root", "/"}, 1000);
  empty.tick(3);
  empty.end_run();
  const Outcome stopped = test::ask(empty.path(), now_ms, {"status"});
  CHECK(stopped.exit == Exit::answered);
  CHECK(stopped.out.find("stopped") != std::string::npos);
}

TEST_CASE("status: bursts are counted, and the current one is shown with its reason") {
  History history;
  history.begin_run();
  history.birth(10, {"server", "server"}, 1000);
  history.tick();
  history.event("burst", "Started: processes wait for memory");
  history.tick();
  history.event("burst", "Ended after 60 s: pressure");
  history.tick();
  history.event("burst", "Started: \x1b[31mhog (12) grew");
  history.tick();
  const auto status = [&](const char* format) { return ask(history, {"status", "--format", format}).out; };
  CHECK(status("json").find("\"bursts\": 2,") != std::string::npos);
  CHECK(status("json").find("\"burst_since_ms\": 1") != std::string::npos);
  CHECK(status("table").find("one is active since") != std::string::npos);
  CHECK(status("table").find('\x1b') == std::string::npos);
  history.event("burst", "Ended after 10 s: growth");
  history.tick();
  CHECK(status("json").find("\"burst_since_ms\": null") != std::string::npos);
  CHECK(status("table").find("2 in the last day") != std::string::npos);
}

}  // namespace reports_test
