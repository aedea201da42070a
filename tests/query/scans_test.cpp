// Values of scans between two ticks are included in answers over time, from ticks and from rollups.

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace scans_test {

using namespace memoir;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kSpike = History::kStart + 2 * History::kHour + 3'000;
constexpr std::int64_t kLast = History::kStart + 3 * History::kHour + 4'000;

json row_of_pid(const json& answer, int pid) {
  for (const json& row : answer["rows"]) {
    if (row["pid"] == pid) return row;
  }
  return {};
}

// A server of 100 MiB with a spike of 800 MiB, and a job with 5 GiB at its exit.
void record(History& history) {
  history.begin_run();
  history.machine(2048 * kMib);
  history.birth(1, {"server", "server", "web", "www-data", "/server.service"}, 100 * kMib);
  history.birth(2, {"job", "job", "job", "root", "/job.service"}, 50 * kMib);
  history.tick(2 * 360 + 1);
  history.seen(1, 800 * kMib, kSpike);
  history.tick(360);
  history.seen(2, 5120 * kMib, kLast);
  history.death(2);
  history.tick(2 * 360);
  history.maintain();
}

}  // namespace

TEST_CASE("scans: a spike between two ticks is the maximum of top and trend, with its time, from ticks and rollups") {
  const std::string tier = GENERATE("raw", "5min", "hour");
  CAPTURE(tier);
  const auto over = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--from", "2026-11-19 00:00", "--to", "2026-11-19 04:00", "--tier", tier});
    return json_of(recorded<record>(), arguments);
  };
  const json top = over({"top", "--by", "rss"});
  CHECK(row_of_pid(top, 1)["max_kib"] == 800 * kMib);
  CHECK(row_of_pid(top, 2)["max_kib"] == 5120 * kMib);
  const json mean = row_of_pid(top, 1)["mean_kib"];
  CHECK(mean == 100 * kMib);
  const json trend = over({"trend", "1", "--by", "rss"});
  CHECK(trend["max_kib"] == 800 * kMib);
  std::int64_t high = 0;
  for (const json& row : trend["rows"]) high += row["max_kib"] == 800 * kMib ? 1 : 0;
  CHECK(high == 1);
  CHECK(row_of_pid(over({"top"}), 1)["max_kib"] == 100 * kMib);  // scans do not read PSS
  if (tier != "raw") return;
  CHECK(row_of_pid(top, 1)["max_at_ms"] == kSpike);
}

TEST_CASE("scans: a process that exits between two ticks has the scan's peak and time") {
  for (const bool all : {false, true}) {
    CAPTURE(all);
    std::vector<std::string> arguments{"peaks"};
    if (!all) arguments.insert(arguments.end(), {"--from", "2026-11-19 02:30", "--to", "2026-11-19 03:30"});
    const json row = row_of_pid(json_of(recorded<record>(), arguments), 2);
    CHECK(row["peak_kib"] == 5120 * kMib);
    CHECK(row["at_ms"] == kLast);
  }
}

}  // namespace scans_test
