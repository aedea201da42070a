// trend: its buckets and the extremes of ticks, time before the subject existed, and a clock set back.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace trend_test {

using namespace memoir;
using memoir::query::Exit;
using memoir::test::has;
using memoir::test::History;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;

std::int64_t max_of_rows(const json& answer) {
  std::int64_t max_kib = 0;
  for (const json& row : answer["rows"])
    max_kib = std::max(max_kib, row["max_kib"].is_null() ? 0 : row["max_kib"].get<std::int64_t>());
  return max_kib;
}

}  // namespace

TEST_CASE("trend: the RSS of a process has all peaks that scans, exits and VmHWM show, from ticks and rollups") {
  const std::string tier = GENERATE("raw", "5min", "hour");
  CAPTURE(tier);
  History history;
  history.begin_run("bpf");
  history.birth(8, {"older", "older"}, 10 * kMib);
  history.mark(8, 90 * kMib);  // a peak before anything is recorded
  history.tick();
  history.birth(1, {"spikes", "spikes"}, 100 * kMib);
  history.mark(1, 150 * kMib);  // a peak before its first tick
  history.birth(2, {"exits", "exits"}, 50 * kMib);
  history.birth(9, {"others", "others"}, 10 * kMib);
  history.tick(60);
  const auto peak_of = [&](int pid) {
    return std::to_string(pid) + " " +
           std::to_string(max_of_rows(json_of(history, {"trend", std::to_string(pid), "--by", "rss", "--tier", tier})) /
                          kMib);
  };
  CHECK(peak_of(1) == "1 150");
  CHECK(peak_of(8) == "8 10");
  history.seen(1, 200 * kMib, history.now_ms() - 4'000);  // a peak that a scan observes
  history.tick(400);                                      // long enough for hourly rollups of the process
  CHECK(peak_of(1) == "1 200");
  history.mark(1, 300 * kMib);  // a peak that only VmHWM shows
  history.tick(480);
  CHECK(peak_of(1) == "1 300");
  history.seen(2, 400 * kMib, history.now_ms() - 1'000);
  history.death(2);
  history.tick(300);
  history.maintain();
  CHECK(peak_of(1) == "1 300");
  CHECK(peak_of(2) == "2 400");
  const json peaks = json_of(history, {"peaks", "--from", "2026-11-19 00:00"})["rows"];
  for (const json& row : peaks) {
    const int pid = row["pid"];
    if (pid < 8)
      CHECK(peak_of(pid) == std::to_string(pid) + " " + std::to_string(row["peak_kib"].get<std::int64_t>() / kMib));
  }
  // PSS is unknown at that time, so the answer has RSS.
  const json pss = json_of(history, {"trend", "1", "--tier", tier});
  CHECK(max_of_rows(pss) == 100 * kMib);
  CHECK(pss.value("rss_max_kib", std::int64_t{0}) == 300 * kMib);
  CHECK(test::has(text_of(history, {"trend", "1", "--tier", tier}), "RSS of 1 reached 300.0 MiB"));
  CHECK(!json_of(history, {"trend", "9", "--tier", tier}).contains("rss_max_kib"));
}

TEST_CASE("trend: scans right before an hour's first tick are in the rollups") {
  History history;
  history.begin_run();
  history.birth(1, {"spikes", "spikes"}, 100 * kMib);
  history.tick(360);
  history.seen(1, 500 * kMib, history.now_ms() - 3'000);
  history.tick(400);
  history.maintain();
  for (const std::string tier : {"raw", "5min", "hour"}) {
    CAPTURE(tier);
    CHECK(max_of_rows(json_of(history, {"trend", "1", "--by", "rss", "--tier", tier})) == 500 * kMib);
  }
}

TEST_CASE("trend: time before the subject existed counts as recorded, without a value") {
  History history;
  history.begin_run();
  history.birth(1, {"early", "early"}, 10 * kMib);
  history.tick(360);
  history.birth(2, {"late", "late"}, 20 * kMib);
  history.tick(360);
  history.kill();
  history.pause(History::kHour);
  history.begin_run();
  history.tick(360);
  const std::vector<std::string> words{"trend", "2", "--step", "1h", "--from", "2026-11-19 00:00"};
  const json rows = json_of(history, words)["rows"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["mean_kib"].is_null());
  CHECK(rows[1]["mean_kib"] == 20 * kMib);
  const std::string text = text_of(history, words);
  CAPTURE(text);
  const auto recorded_at = [&text](const std::string& time) {
    const std::string line = text.substr(text.find("\n2026-11-19 " + time) + 1);
    const std::size_t percent = line.find('%');
    return line.substr(line.rfind(' ', percent) + 1, percent - line.rfind(' ', percent));
  };
  CHECK(recorded_at("00:00:00") == "100.0%");
  CHECK(recorded_at("01:00:00") == "99.7%");
  CHECK(recorded_at("02:00:00") == "0.0%");
  CHECK(recorded_at("03:00:00") == "100.0%");
}

TEST_CASE("trend: a time that occurs twice because the clock was set back counts each process once") {
  const std::string tier = GENERATE("raw", "5min");
  CAPTURE(tier);
  History history;
  history.begin_run();
  const std::string unit = "/system.slice/pair.service";
  history.birth(1, {"pair", "pair", "web", "root", unit}, 100 * kMib);
  history.birth(2, {"pair", "pair", "web", "root", unit}, 50 * kMib);
  history.tick(300);
  history.hold(1, 120 * kMib);
  history.step_wall(-30 * History::kMinute);
  history.tick(10);
  history.death(2);
  history.tick(500);
  history.maintain();
  const auto check = [&](const std::string& subject, std::int64_t max_kib, std::int64_t min_kib) {
    const json answer = json_of(
        history, {"trend", subject, "--from", "2026-11-19 00:00", "--by", "rss", "--tier", tier, "--step", "5m"});
    CAPTURE(subject, answer.dump(1));
    for (const json& row : answer["rows"]) {
      if (row["mean_kib"].is_null()) continue;
      CHECK(row["mean_kib"] <= max_kib);
      CHECK(row["mean_kib"] >= min_kib);
      if (!row["max_kib"].is_null()) CHECK(row["max_kib"] <= max_kib);
      CHECK(row["covered_ms"] <= 300'000);
    }
    CHECK(answer["mean_kib"] <= max_kib);
    if (tier == "raw") CHECK(answer["max_kib"] == max_kib);
  };
  check("1", 120 * kMib, 100 * kMib);
  check("unit:pair.service", 170 * kMib, 100 * kMib);
  check("user:root", 170 * kMib, 100 * kMib);
}

namespace {

// Ticks of 10 s. From tick 30 on, a task waits for 1 s of each interval, except one in which it waits for 5 s.
void record_pressure(History& history) {
  std::int64_t stalled_us = 0;
  history.begin_run();
  history.birth(7, {"job", "job"}, 1000);
  for (int tick = 0; tick < 90; ++tick) {
    if (tick >= 30) stalled_us += tick == 60 ? 5'000'000 : 1'000'000;
    history.machine(MachineField::psi_some_total, stalled_us);
    history.tick();
  }
  history.maintain();
}

}  // namespace

TEST_CASE("trend: pressure is the share of the time in which a task waited") {
  const History& history = test::recorded<record_pressure>();
  const json answer = json_of(history, {"trend", "--by", "pressure", "--step", "10s"});
  CHECK(answer["max_percent"] == 50.0);
  CHECK(answer["max_at_ms"] == History::kStart + 59 * History::kInterval);
  CHECK(answer["max_until_ms"] == History::kStart + 60 * History::kInterval);
  CHECK(answer["min_percent"] == 0.0);
  CHECK(answer["p50_percent"] == 10.0);
  CHECK_FALSE(answer.contains("slope_kib_per_day"));
  const auto& rows = answer["rows"];
  REQUIRE(rows.size() == 89);
  CHECK(rows[10]["max_percent"] == 0.0);
  CHECK(rows[40]["mean_percent"] == 10.0);
  CHECK(rows[59]["max_percent"] == 50.0);
  CHECK(rows[59]["max_at_ms"] == rows[59]["from_ms"]);
  const auto wide = json_of(history, {"trend", "--by", "pressure", "--step", "5m"});
  for (const auto& row : wide["rows"]) {
    if (row["max_percent"] == 50.0) CHECK(row["max_at_ms"] == History::kStart + 59 * History::kInterval);
  }
  const auto rolled = json_of(history, {"trend", "--by", "pressure", "--tier", "5min"});
  CHECK(rolled["max_percent"].get<double>() > 10.0);
  CHECK(rolled["max_percent"].get<double>() < 13.0);
  CHECK(has(text_of(history, {"trend", "--by", "pressure"}), "min 0.0%, mean "));
  CHECK(ask(history, {"trend", "7", "--by", "pressure"}).exit == Exit::usage);
  CHECK(has(ask(history, {"trend", "machine", "7", "--by", "pressure"}).error, "as the only SUBJECT"));
}

}  // namespace trend_test
