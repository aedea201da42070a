// The accuracy that answers from rollups report, and times of peaks.

#include <filesystem>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace exactness_test {

using namespace memoir;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kHour = 3'600'000;
const char* const kTierWords[] = {"raw", "5min", "hour", "day"};

const json& row_of(const json& rows, const std::string& key, const std::string& value) {
  for (const json& row : rows) {
    if (row[key] == value) return row;
  }
  FAIL("no row of " << value);
  return rows;
}

bool warns_of(const json& report, const std::string& words) {
  for (const json& warning : report["warnings"]) {
    if (warning.get<std::string>().find(words) != std::string::npos) return true;
  }
  return false;
}

// Two days of three processes, rolled up. From the second day on the database's process is unreadable, so a third of
// the PSS of both days is not exact.
void half_readable(History& history) {
  history.begin_run();
  history.birth(1, {"init", "init"}, 100'000);
  history.birth(2, {"nginx", "nginx", "web"}, 100'000);
  history.birth(3, {"postgres", "postgres", "database"}, 400'000);
  history.tick(24 * 60);
  history.approximate(3);
  history.tick(24 * 60 + 1);
  history.maintain();
  history.end_run();
}

json of_two_days(std::vector<std::string> arguments, const std::string& tier) {
  arguments.insert(arguments.end(), {"--from", "2026-11-19", "--to", "2026-11-21", "--tier", tier});
  return json_of(recorded<half_readable, kMinute>(), std::move(arguments));
}

// The machine uses 9 GiB, and one process 8 GiB, at 03:00 and over midnight from 23:57 to 00:10.
void twice_as_high(History& history) {
  const auto hold = [&history](std::int64_t kib, int minutes) {
    history.hold(7, kib);
    history.machine(kib + (1 << 20));
    history.tick(minutes);
  };
  history.begin_run();
  history.birth(7, {"java", "java -jar app.jar", "app", "root", "/app.slice"}, 2 << 20);
  hold(2 << 20, 3 * 60);
  hold(8 << 20, 10);
  hold(2 << 20, 20 * 60 + 47);
  hold(8 << 20, 13);
  hold(2 << 20, 14 * 60);
  history.maintain();
  history.end_run();
}

constexpr std::int64_t kSecondTime = History::kStart + 24 * kHour - 3 * kMinute;

}  // namespace

TEST_CASE("exactness: rollups report the exact part of an answer, as ticks do") {
  const std::string tier = GENERATE(from_range(std::begin(kTierWords), std::end(kTierWords)));
  CAPTURE(tier);
  for (const std::string group : {"process", "category", "user"}) {
    if (tier == "day" && group != "category") continue;  // processes have rows of a day from the second day on
    const json top = of_two_days({"top", "--group", group}, tier);
    CAPTURE(group);
    CHECK(top["totals"]["exact_percent"].get<double>() == Approx(200.0 / 3).margin(0.05));
    CHECK(of_two_days({"top", "--group", group, "--by", "rss"}, tier)["totals"]["exact_percent"] == 100);
  }
  for (const char* subject : {"3", "database", "user:root"}) {
    CAPTURE(subject);
    CHECK(warns_of(of_two_days({"trend", subject}, tier), "or RSS where PSS could not be read"));
    CHECK_FALSE(warns_of(of_two_days({"trend", subject, "--by", "rss"}, tier), "or RSS where PSS could not be read"));
  }
  CHECK_FALSE(warns_of(of_two_days({"trend", "web"}, tier), "exact"));
  if (tier == "raw") return;
  CHECK(warns_of(of_two_days({"trend", "database"}, tier), "50.0% of the PSS is exact"));
  CHECK(warns_of(of_two_days({"peaks", "--by", "pss"}, tier), "66.7% of the PSS is exact"));
  CHECK(warns_of(of_two_days({"peaks", "--group", "category"}, tier), "66.7% of the PSS is exact"));
}

TEST_CASE("exactness: top and process say why RSS replaces PSS") {
  History history;
  history.begin_run();
  history.birth(1, {"init", "init"}, 100'000);
  history.birth(3, {"postgres", "postgres", "database"}, 400'000);
  history.tick(2);
  const auto has = [&](const std::vector<std::string>& words, const std::string& sentence) {
    const query::Outcome outcome = ask(history, words);
    CAPTURE(outcome.out);
    return outcome.out.find(sentence) != std::string::npos;
  };
  CHECK_FALSE(has({"top"}, "approximate"));
  history.approximate(3);
  history.tick();
  CHECK(has({"top"}, "1 process is approximate. smaps_rollup was not readable: RSS replaces PSS"));
  history.event("degraded",
                "BPF is off. There is no smaps_rollup (gVisor): RSS replaces PSS, and USS is unknown. More.");
  history.tick();
  const std::string why =
      "1 process is approximate. There is no smaps_rollup (gVisor): RSS replaces PSS, and USS is unknown.\n";
  CHECK(has({"top"}, why));
  CHECK(has({"process", "3"}, why));
  CHECK_FALSE(has({"process", "1"}, "approximate"));
  CHECK_FALSE(has({"top", "--filter", "pid=1"}, "approximate"));
}

TEST_CASE("exactness: a summary reports the exact part of PSS") {
  const History& history = recorded<half_readable, kMinute>();
  const auto of = [&](const char* day) { return json_of(history, {"summary", "--day", day}); };
  CHECK_FALSE(warns_of(of("2026-11-19"), "exact"));
  CHECK(warns_of(of("2026-11-20"), "33.3% of the PSS is exact"));
}

TEST_CASE("exactness: a peak that was reached twice has the time of the first in the range") {
  const History& history = recorded<twice_as_high, kMinute>();
  const std::string tier = GENERATE("5min", "hour");
  CAPTURE(tier);
  for (const char* group : {"category", "cgroup", "identity"}) {
    const json peaks = json_of(history, {"peaks", "--group", group, "--by", "pss", "--from", "2026-11-19 12:00", "--to",
                                         "2026-11-20 12:00", "--tier", tier});
    CAPTURE(group);
    for (const json& row : {row_of(peaks["machine"], "metric", "used"), row_of(peaks["machine"], "metric", "available"),
                            peaks["rows"][0]}) {
      CHECK(row["before_ms"] <= kSecondTime);
      CHECK(row["at_ms"] >= kSecondTime);
      CHECK(row["at_ms"].get<std::int64_t>() - row["before_ms"].get<std::int64_t>() <= 5 * kMinute);
    }
    for (const char* metric : {"used", "available"}) {
      CHECK(row_of(peaks["machine"], "metric", metric)["at_ms"] == kSecondTime);
      CHECK(row_of(peaks["machine"], "metric", metric)["before_ms"] == kSecondTime - kMinute);
    }
    if (tier == "hour") CHECK(peaks["rows"][0]["at_ms"] == kSecondTime);
  }
}

TEST_CASE("exactness: the time of a peak is kept when its ticks expire") {
  const History& history = recorded<twice_as_high, kMinute>();
  for (const std::string tier : {"hour", "day"}) {
    CAPTURE(tier);
    const json trend =
        json_of(history, {"trend", "category:app", "--from", "2026-11-19", "--to", "2026-11-20", "--tier", tier});
    CHECK(trend["max_at_ms"] == History::kStart + 3 * kHour);
    const json top =
        json_of(history, {"top", "--group", "category", "--from", "2026-11-19", "--to", "2026-11-20", "--tier", tier});
    CHECK(top["rows"][0]["max_at_ms"] == History::kStart + 3 * kHour);
    CHECK(top["rows"][0]["max_until_ms"] == History::kStart + 3 * kHour);
  }
}

TEST_CASE("exactness: the peak of a local day has its own time") {
  const History& history = recorded<twice_as_high, kMinute>();
  const json summary = test::json_of(history.path(), history.now_ms(), {"summary", "--day", "2026-11-20"}, "XXX-12");
  CHECK(summary["used_max_at_ms"] == kSecondTime);
  CHECK(summary["used_max_until_ms"] == kSecondTime);
  CHECK(summary["available_min_at_ms"] == kSecondTime);
}

TEST_CASE("a sum has its estimated part, and the error of estimates in the previous hour") {
  History history;
  history.begin_run();
  history.birth(1, {"init", "init"}, 100'000);
  history.birth(2, {"postgres", "postgres"}, 300'000);
  const auto totals = [&] { return json_of(history, {"top"})["totals"]; };
  history.tick();
  CHECK(totals()["exact_percent"] == 100.0);
  CHECK(totals()["estimates_off_percent"].is_null());
  history.estimated(2);
  history.tick();
  CHECK(totals()["exact_percent"] == 25.0);
  CHECK(totals()["estimates_off_percent"].is_null());  // no estimate was checked
  history.exact(2, 297'000);
  history.tick();
  history.estimated(2);
  history.tick();
  CHECK(totals()["estimates_off_percent"] == 1.0);
  history.pause(3'600'000);
  history.tick();
  CHECK(totals()["estimates_off_percent"].is_null());
}

TEST_CASE("estimates have bounds, a maximum error of their sum, and a duration") {
  History history;
  history.begin_run();
  history.birth(1, {"init", "init"}, 100'000);
  history.birth(2, {"postgres", "postgres", "database"}, 300'000);
  history.birth(3, {"postgres", "postgres", "database"}, 300'000);
  const auto ask_top = [&](std::vector<std::string> more = {}) {
    more.insert(more.begin(), "top");
    return json_of(history, more);
  };
  history.tick();
  CHECK_FALSE(ask_top()["rows"][0].contains("pss_low_kib"));
  CHECK_FALSE(ask_top()["totals"].contains("estimates_off_most_kib"));
  // Two processes run the same program, so each may share half of its anonymous memory.
  history.estimated(2);
  history.set(2, ProcessField::rss_anon, 240'000);
  history.set(2, ProcessField::vm_rss, 500'000);
  history.machine(MachineField::anon_pages, 800'000);
  history.machine(MachineField::mapped, 400'000);
  history.tick(3);
  const json top = ask_top();
  CAPTURE(top.dump());
  const json& two = top["rows"][0];
  CHECK(two["pid"] == 2);
  CHECK(two["pss_low_kib"] == 119'999);
  CHECK(two["pss_high_kib"] == 500'000);
  CHECK(two["estimated_ms"] == 2 * History::kInterval);
  CHECK(top["rows"][1]["pss_low_kib"] == 300'000);
  CHECK(top["rows"][1]["pss_high_kib"] == 300'000);
  CHECK(top["rows"][1]["estimated_ms"].is_null());
  CHECK(top["totals"]["estimates_off_most_kib"] == 200'000);
  const json group = ask_top({"--group", "category"})["rows"][0];
  CHECK(group["pss_low_kib"] == 419'999);
  CHECK(group["pss_high_kib"] == 800'000);
  // The machine's mapped memory limits the error: besides the exact PSS and the estimate, 100,000 KiB are mapped.
  history.machine(MachineField::mapped, 50'000);
  history.tick();
  CHECK(ask_top()["totals"]["estimates_off_most_kib"] == 180'001);
  history.set(2, ProcessField::pss_anon, 240'000);
  history.tick();
  CHECK(ask_top()["totals"]["estimates_off_most_kib"] == 150'000);
}

}  // namespace exactness_test
