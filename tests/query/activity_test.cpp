// Counts over a range: processes started, exited and alive, and OOM kills. All commands agree on them, also after ticks
// have expired.

#include "store/activity.h"

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "store/writer.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

namespace memoir::test::activity_test {
namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kDay = 86'400'000;
const Person kJob{"job", "/usr/bin/job --once"};

Activity activity_of(const std::string& path, Range range) {
  auto reader = Reader::open(path);
  REQUIRE(reader);
  const auto activity = load_activity(**reader, range);
  REQUIRE(activity);
  REQUIRE(*activity);
  return **activity;
}

// Records starts, exits, execs, zombies, processes between two ticks and a restart. OOM kills occur in the first five
// minutes and later.
void record_day(History& history) {
  history.oom_kills(3);
  history.begin_run("bpf");
  history.tell_ends();
  history.birth(1, {"init", "/sbin/init"}, 10 * kMib);
  history.birth(2, {"service", "/usr/bin/service"}, 20 * kMib);
  history.tick();
  history.oom_kills(5);
  history.tick();
  std::int32_t pid = 10;
  for (int hour = 0; hour < 30; ++hour) {
    for (int i = 0; i < 6; ++i) {
      history.birth(pid, kJob, 5 * kMib);
      history.tick();
      if (i % 2 == 0) history.exec(pid, {"worker", "/usr/bin/worker"}, 6 * kMib);
      history.flash(pid + 1000, kJob, 90 * kMib);
      history.flashes("small", 3, 2 * kMib);
      history.tick();
      history.report_exit(pid, i == 4 ? SIGKILL : 0);
      if (i == 3) {
        history.zombie(pid);
        history.tick();
      }
      history.death(pid);
      ++pid;
    }
    if (hour == 20) {
      history.oom_kills(9);
      history.birth(3, {"late", "/usr/bin/late"}, 5 * kMib);
    }
    history.tick(342);
    if (hour == 25) {
      history.end_run();
      history.pause(3 * History::kMinute);
      history.oom_kills(10);
      history.begin_run("bpf");
    }
  }
  history.tick();
}

History& day() {
  return recorded<record_day>();
}

// Makes a copy in which all ticks have expired except the ticks of the last hours.
void expire_ticks(const History& history, const std::string& path) {
  namespace fs = std::filesystem;
  for (const char* suffix : {"", "-wal"}) {
    if (fs::exists(history.path() + suffix)) fs::copy_file(history.path() + suffix, path + suffix);
  }
  auto writer = Writer::open(path, Durability::normal);
  REQUIRE(writer);
  const BootInfo boot{"11111111-2222-4333-8444-555555555555", History::kStart - kDay, "testhost", "6.1.0-test"};
  const Moment now{history.now_ms(), kDay + history.now_ms() - History::kStart};
  REQUIRE((*writer)->begin_run({boot, 4242, "0.1.0 (test)", 10'000, now, {.raw_ms = 4 * History::kHour}}));
  for (bool more = true; more;) {
    const auto done = (*writer)->maintain();
    REQUIRE(done);
    more = done->more;
  }
}

}  // namespace

TEST_CASE("activity: alive before plus started equals alive after plus exited, in every range between two ticks") {
  const History& history = day();
  auto reader = Reader::open(history.path());
  REQUIRE(reader);
  const auto ticks = (*reader)->ticks({History::kStart, history.now_ms()});
  REQUIRE(ticks);
  std::vector<std::int64_t> at;
  for (std::size_t i = 0; i < ticks->size(); i += 391) at.push_back((*ticks)[i].begin.wall_ms);
  at.push_back(ticks->back().begin.wall_ms);
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    INFO(at[i]);
    const Activity before = activity_of(history.path(), {at[i] - 1, at[i] - 1});
    const Activity within = activity_of(history.path(), {at[i], at[i + 1]});
    REQUIRE(before.alive);
    CHECK(*before.alive + within.started == *within.alive + within.exited);
  }
}

TEST_CASE("activity: all images of one run are one process, and processes between two ticks count") {
  const Range all{History::kStart - 1, day().now_ms()};
  const Activity activity = activity_of(day().path(), all);
  // In each of 30 hours there are 6 sampled processes, 6 with a large peak and 18 small ones. One process keeps
  // running.
  CHECK(activity.started == 30 * (6 + 6 + 18) + 1);
  CHECK(activity.exited == 30 * (6 + 6 + 18));
  CHECK(activity.short_lived == activity.exited);
  CHECK(activity.alive == 3);
  CHECK(activity.lost_events == 0);
  CHECK(activity.oom_kills == 10 - 3);
}

TEST_CASE(
    "activity: a process that execs and exits between two ticks exits once, and has one lifetime in all commands") {
  History history;
  history.begin_run("bpf");
  history.tell_ends();
  history.birth(1, {"init", "/sbin/init"}, 10 * kMib);
  history.birth(7, {"sh", "sh start.sh"}, 2 * kMib);
  history.tick(3);
  history.exec_and_exit(7, {"java", "java"}, 300 * kMib, SIGKILL);
  history.tick(2);
  const Activity activity = activity_of(history.path(), {History::kStart, history.now_ms()});
  CHECK(activity.started == 0);
  CHECK(activity.exited == 1);
  const auto exits = json_of(history, {"exits", "--last", "1h"});
  CHECK(exits["totals"]["ended"] == 1);
  REQUIRE(exits["rows"].size() == 1);
  const auto& exit = exits["rows"][0];
  CHECK(exit["comm"] == "java");
  CHECK(exit["lived_ms"] == 31'000);
  const auto processes = json_of(history, {"processes", "--last", "1h", "--filter", "pid=7"});
  CHECK(processes["totals"]["processes"] == 1);
  CHECK(processes["totals"]["exited"] == 1);
  REQUIRE(processes["rows"].size() == 2);
  for (const auto& row : processes["rows"]) {
    const bool is_last = row["comm"] == "java";
    CHECK(row["end"] == (is_last ? "ended" : "exec"));
    CHECK(row["start_ms"] == History::kStart - 3'000);
    if (!is_last) continue;
    CHECK(row["lifetime_ms"] == exit["lived_ms"]);
    CHECK(row["signal"] == SIGKILL);
    CHECK(row["ended_ms"] == exit["ended_ms"]);
  }
  const std::string table = text_of(history, {"processes", "--last", "1h"});
  CHECK(has(table, "SIGKILL"));
  CHECK(has(table, "31 s"));
}

TEST_CASE("activity: exits counts the same number") {
  const auto exits = json_of(day(), {"exits", "--from", "2026-11-19 00:00", "--limit", "0"});
  CHECK(exits["totals"]["ended"] == 30 * (6 + 6 + 18));
}

TEST_CASE("activity: each command counts the same OOM kills, including those in the first five minutes of a day") {
  const auto kills = [](const nlohmann::json& json) { return json["oom_kills"].get<std::int64_t>(); };
  const auto first = json_of(day(), {"summary", "--day", "2026-11-19"});
  const auto second = json_of(day(), {"summary", "--day", "2026-11-20"});
  CHECK(kills(first) == 6);
  CHECK(kills(second) == 1);
  CHECK(second["rows"].back()["oom_kills"] == 1);
  CHECK(second["rows"][second["rows"].size() - 2]["oom_kills"] == 6);
  std::int64_t listed = 0;
  for (const auto& row : first["oom"]) listed += row["kills"].get<std::int64_t>();
  CHECK(listed == 6);
  CHECK(kills(json_of(day(), {"events"})["totals"]) == 7);
  CHECK(kills(json_of(day(), {"events", "--day", "2026-11-19"})["totals"]) == 6);
  CHECK(kills(json_of(day(), {"status"})) == 5);  // kills of the last 24 hours
  CHECK(kills(json_of(day(), {"incident", "--at", "2026-11-19 00:00:10"})["totals"]) == 2);
}

TEST_CASE("activity: the counts of a day stay when its ticks have expired") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/memoir.db";
  expire_ticks(day(), path);
  for (const char* date : {"2026-11-19", "2026-11-20"}) {
    INFO(date);
    const auto before = json_of(day(), {"summary", "--day", date});
    const auto after = json_of(path, day().now_ms(), {"summary", "--day", date});
    for (const char* count :
         {"processes_started", "processes_exited", "processes_short_lived", "processes_alive", "oom_kills"}) {
      INFO(count);
      CHECK(before[count].is_number());
      CHECK(after[count] == before[count]);
    }
  }
  auto reader = Reader::open(path);
  REQUIRE(reader);
  const auto ticks = (*reader)->ticks({History::kStart, History::kStart + kDay - 1});
  REQUIRE(ticks);
  CHECK(ticks->empty());
}

TEST_CASE("activity: processes, status and summary count the same") {
  const auto summary = json_of(day(), {"summary", "--day", "2026-11-20"});
  const auto processes = json_of(day(), {"processes", "--day", "2026-11-20"});
  CHECK(processes["totals"]["started"] == summary["processes_started"]);
  CHECK(processes["totals"]["exited"] == summary["processes_exited"]);
  const auto status = json_of(day(), {"status"});
  const auto of_last_day = activity_of(
      day().path(), {status["last_tick_ms"].get<std::int64_t>() - kDay, status["last_tick_ms"].get<std::int64_t>()});
  CHECK(status["processes_started"] == of_last_day.started);
  CHECK(status["processes_exited"] == of_last_day.exited);
}

}  // namespace memoir::test::activity_test
