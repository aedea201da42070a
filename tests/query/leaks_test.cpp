// memoir leaks on accelerated time: the analysis' hour is a minute and a tick is ten seconds, so that ten of its days
// take four hours.

#include <cmath>
#include <random>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "query/leaks/series.h"
#include "support/catch.h"

namespace leaks_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::Person;
using Json = nlohmann::json;

namespace {

constexpr int kTicksPerDay = 24 * 6;
constexpr int kDays = 10;

// A leak of 20 MiB a "day", a level process, a leaking process that is restarted every day and a half, a pool of
// workers that never exit, and an occasional job.
void record(History& history) {
  history.begin_run();
  history.machine(16 * 1024 * 1024 - 512 * 1024, 4 * 1024 * 1024);
  history.cgroup({"/system.slice", 400'000, 300'000, {}, {}, {}, {}});
  history.cgroup({"/system.slice/pool.service", 200'000, 150'000, {}, 200'000, {}, {}});
  history.cgroup({"/system.slice/again.service", 100'000, {}, {}, 90LL << 20, {}, {}});
  history.birth(100, {"leaky", "/usr/bin/leaky --serve", "web", "app", "/system.slice/leaky.service"}, 200'000);
  history.birth(200, {"calm", "/usr/bin/calm", "web", "app", "/system.slice/calm.service"}, 300'000);
  const Person restarted{"again", "/usr/bin/again", "web", "app", "/system.slice/again.service"};
  const int life = kTicksPerDay * 3 / 2 + 12;
  for (int at = 0; at < kDays * kTicksPerDay; ++at) {
    history.hold(100, 200'000 + at * 20 * 1024 / kTicksPerDay);
    history.hold(200, 300'000 + static_cast<std::int64_t>(2000 * std::sin(at * 0.9)));
    if (at % life == 0) {
      if (at > 0) history.death(300 + at / life - 1);
      history.birth(300 + at / life, restarted, 100'000);
    }
    history.hold(300 + at / life, 100'000 + at % life * 400);
    if (at % 24 == 0) {
      history.birth(1000 + at / 24, {"worker", "/usr/bin/pool worker", "web", "app", "/system.slice/pool.service"},
                    20'000);
    }
    if (at % 300 == 100) history.birth(5000 + at, {"job", "/usr/bin/job", "batch", "app", "/user.slice"}, 800'000);
    if (at % 300 == 130) history.death(5000 + at - 30);
    history.tick();
  }
  history.end_run();
}

// Adds the option for an hour of one minute.
std::vector<std::string> fast(std::vector<std::string> words) {
  words.insert(words.begin(), {"leaks", "--hour", "1m"});
  return words;
}

std::string verdict(const Json& answer, const std::string& subject, const std::string& metric = "anon+swap") {
  for (const Json& row : answer["rows"]) {
    if (row["subject"].get<std::string>().find(subject) != std::string::npos && row["metric"] == metric)
      return row["verdict"];
  }
  return "";
}

}  // namespace

TEST_CASE("Leaks are found by identity, other growth is dismissed, and each verdict is explained") {
  History history;
  record(history);

  memoir::test::check_formats("leaks", history, fast({}));
  memoir::test::compare_with_golden("leaks-explain.table", ask(history, fast({"--explain", "leaky"})).out);

  const Json leaks = json_of(history, fast({}));
  CHECK(verdict(leaks, "leaky") == "leak-steady");
  CHECK(verdict(leaks, "again") == "leak-across-restarts");
  CHECK(verdict(leaks, "worker") == "count-leak");
  for (const Json& row : leaks["rows"]) {
    const std::string subject = row["subject"];
    // 50,000 KiB are used besides page cache. Distant limits are omitted.
    if (subject.find("worker") != std::string::npos) {
      CHECK(row["limit"] == "memory.max of /system.slice/pool.service");
      CHECK(row["limit_room_kib"] == 150'000);
    }
    if (subject.find("again") != std::string::npos) CHECK(row["limit"] == "the machine's memory");
  }
  CHECK(verdict(leaks, "calm").empty());
  CHECK(verdict(leaks, "job").empty());
  CHECK(leaks["totals"]["leaks"] == leaks["rows"].size());
  CHECK(leaks["coverage"]["ticks"] == kDays * kTicksPerDay);
  for (const Json& row : leaks["rows"]) {
    CAPTURE(row.dump());
    CHECK(row["leak"] == true);
    if (row["subject"].get<std::string>().find("leaky") == std::string::npos) continue;
    // Slopes are per true day, which has 1440 minutes, each an hour of the analysis.
    CHECK(row["slope_kib_per_day"].get<double>() == Approx(60 * 20 * 1024).epsilon(0.02));
    CHECK(row["limit"] == "the machine's memory");
    CHECK(row["limit_room_kib"] == 512 * 1024);
    CHECK(row["runs_out_in_ms"].get<double>() > 0);
  }

  // The summary judges the same, and omits the evidence of other verdicts.
  const Json day = json_of(history, {"summary", "--hour", "1m", "--all", "--day", "2026-11-19"});
  CHECK(day["leaks_judged"] == leaks["totals"]["judged"]);
  REQUIRE(day["leaks"].size() == leaks["rows"].size());
  for (std::size_t i = 0; i < day["leaks"].size(); ++i) {
    for (const char* field : {"subject", "title", "metric", "verdict", "reason", "slope_kib_per_day", "limit", "pid"})
      CHECK(day["leaks"][i][field] == leaks["rows"][i][field]);
  }

  const Json all = json_of(history, fast({"--all", "--limit", "0"}));
  CHECK(verdict(all, "calm") == "noise");
  CHECK_FALSE(verdict(all, "job").empty());
  for (const Json& row : all["rows"]) CHECK_FALSE(row["reason"].get<std::string>().empty());

  const Json one = json_of(history, fast({"--explain", "leaky"}));
  CHECK(one["verdict"] == "leak-steady");
  CHECK(one["evidence"].size() >= 7);
  const std::string worker = ask(history, fast({"--explain", "worker"})).out;
  CAPTURE(worker);
  CHECK(worker.find("memory.max of /system.slice/pool.service, with 146.5 MiB left") != std::string::npos);
  const Outcome shown = ask(history, fast({"--explain", "calm"}));
  CHECK(shown.exit == Exit::answered);
  CHECK(shown.out.find("What would change the verdict") != std::string::npos);
  CHECK(json_of(history, fast({"--explain", "100"}))["verdict"] == "leak-steady");
}

TEST_CASE("leaks: a complete extract gives the same verdicts as its file, however the clock was set") {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    History history;
    std::mt19937 engine(seed);
    history.begin_run();
    for (int at = 0; at < 4 * kTicksPerDay; ++at) {
      for (int i = 0; i < 6; ++i) {
        const std::string name = "leak" + std::to_string(i);
        if (at == 0) history.birth(100 + i, {name, "/usr/bin/" + name, "web", "app", "/" + name + ".service"}, 100'000);
        history.hold(100 + i, 100'000 + std::int64_t{at} * (10 + 20 * i) + static_cast<std::int64_t>(engine() % 500));
      }
      history.tick();
      history.maintain();
      if (engine() % 150 == 0) history.step_wall((static_cast<std::int64_t>(engine() % 1'500) - 700) * 1000);
    }
    history.end_run();
    const std::string copy = history.path() + ".extract";
    const std::int64_t now_ms = history.now_ms() + History::kHour;
    memoir::test::ask(history.path(), now_ms,
                      {"extract", "-o", copy, "--from", "2026-11-18 00:00", "--to", "2026-11-20 00:00"});
    for (const bool is_fast : {true, false}) {
      CAPTURE(seed, is_fast);
      std::vector<std::string> words{"leaks", "--all"};
      if (is_fast) words = fast({"--all"});
      CHECK(memoir::test::json_of(copy, now_ms, words)["rows"] ==
            memoir::test::json_of(history.path(), now_ms, words)["rows"]);
    }
  }
}

TEST_CASE("A series is in time order, even if the wall clock was set back") {
  const auto bucket = [](std::int64_t from_ms, std::int32_t life) { return LeakBucket{from_ms, 1, 0, 0, 0, life}; };
  const LeakSeries series = in_order({{bucket(20, 0), bucket(30, 0), bucket(10, 0), bucket(20, 1), bucket(10, 1)}, 10});
  std::vector<std::pair<std::int64_t, std::int32_t>> ordered;
  for (const LeakBucket& of : series.buckets) ordered.emplace_back(of.from_ms, of.life);
  CHECK(ordered == std::vector<std::pair<std::int64_t, std::int32_t>>{{10, 0}, {10, 1}, {20, 0}, {20, 1}, {30, 0}});
  CHECK(series.width_ms == 10);
}

TEST_CASE("Too little history, no subject, and nothing recorded are reported") {
  History history;
  history.begin_run();
  history.birth(100, {"young", "/usr/bin/young", "web", "app", "/system.slice/young.service"}, 200'000);
  history.tick(6);
  history.end_run();

  const Json all = json_of(history, fast({"--all"}));
  CHECK(verdict(all, "young") == "insufficient");
  CHECK(all["totals"]["insufficient"].get<int>() >= 1);
  for (const Json& row : all["rows"]) {
    if (row["subject"] != "/usr/bin/young") continue;
    CHECK(row["recorded_ms"] == 50'000);
    CHECK(row["needed_ms"] == 120'000);
    CHECK(row["reason"] ==
          "there is too little history to judge: 0.8 of the 2.0 hours (of the configured length) needed of one run");
  }
  const std::string said = ask(history, fast({})).out;
  CAPTURE(said);
  CHECK(said.find("3 have too little history: at most 1 min, where") != std::string::npos);
  CHECK(ask(history, fast({})).out.find("too little history") != std::string::npos);

  const Outcome unknown = ask(history, fast({"yuong"}));
  CHECK(unknown.exit == Exit::empty);
  CHECK(unknown.error.find("yuong") != std::string::npos);
  CHECK(ask(history, fast({"--explain"})).exit == Exit::usage);
  CHECK(ask(history, fast({"--from", "@1", "--to", "@2"})).exit == Exit::empty);
}

TEST_CASE("Memory in tmpfs and in SysV segments can leak like a process") {
  History history(600'000);
  history.begin_run();
  for (int hour = 0; hour < 10 * 24; ++hour) {
    history.machine(MachineField::tmpfs, 100'000 + hour * 1000);
    history.machine(MachineField::sysv, 50'000 + hour * 500);
    history.tick(6);
    if (hour % 24 == 0) history.maintain();
  }
  history.end_run();

  const Json leaks = json_of(history, {"leaks"});
  CAPTURE(leaks.dump());
  CHECK(verdict(leaks, "machine", "tmpfs") == "leak-steady");
  CHECK(verdict(leaks, "machine", "sysv") == "leak-steady");
}

// The kernel kills a worker that leaks up to its cgroup's limit; another worker continues to leak.
TEST_CASE("An exited process is evidence without a forecast, and its limit is that of its cgroup") {
  History history;
  history.begin_run();
  history.machine(16 * 1024 * 1024 - 512 * 1024);
  const Person worker{"worker", "/usr/bin/worker", "web", "app", "/system.slice/worker.service"};
  const Person other{"other", "/usr/bin/other", "web", "app", "/system.slice/other.service"};
  history.birth(100, worker, 100'000);
  history.birth(200, other, 100'000);
  const auto grow = [&history](bool both, int at) {
    if (both) history.hold(100, 100'000 + at * 200);
    if (both) history.cgroup({"/system.slice/worker.service", 110'000 + at * 200, 10'000, {}, 400'000, {}, 0});
    history.hold(200, 100'000 + at * 400);
    history.tick();
  };
  for (int at = 0; at < 1500; ++at) grow(true, at);
  const std::int64_t exited_ms = history.now_ms();
  history.death(100);
  for (int at = 1500; at < 1530; ++at) grow(false, at);
  history.end_run();

  const Json leaks = json_of(history, fast({}));
  REQUIRE(leaks["rows"].size() == 2);
  const Json& live = leaks["rows"][0];
  CHECK(live["subject"] == "/usr/bin/other");
  CHECK(live["ended_ms"].is_null());
  CHECK(live["limit"] == "the machine's memory");
  CHECK(live["runs_out_in_ms"].is_number());
  const Json& dead = leaks["rows"][1];
  CHECK(dead["subject"] == "/usr/bin/worker");
  CHECK(dead["verdict"] == "leak-steady");
  CHECK(dead["ended_ms"] == exited_ms);
  CHECK(dead["runs_out_in_ms"].is_null());
  CHECK(dead["limit_room_kib"].is_null());
  CHECK(dead["limit"] == "memory.max of /system.slice/worker.service");
  CHECK(dead["reason"] == "its floor rises continuously; it has exited");
  CHECK(leaks["totals"]["leaks"] == 2);
  CHECK(leaks["totals"]["ended"] == 1);
  const std::string table = ask(history, fast({})).out;
  CAPTURE(table);
  CHECK(table.find("\nended ") != std::string::npos);
  CHECK(table.find("2 leak (1 of them ended)") != std::string::npos);
  // Before its exit, the worker was an ordinary leak.
  const Json before = json_of(history, fast({"--to", "@" + std::to_string(exited_ms - 60'000)}));
  for (const Json& row : before["rows"]) CHECK(row["ended_ms"].is_null());
}

}  // namespace leaks_test
