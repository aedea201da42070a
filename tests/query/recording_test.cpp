#include "query/history/recording.h"

#include "support/catch.h"

namespace recording_test {

using namespace memoir;
using namespace memoir::query;

namespace {

FileInfo held_by(std::optional<std::int32_t> pid) {
  FileInfo file;
  file.ticks = 1;
  file.recorder_pid = pid;
  return file;
}

StoredRun run(std::int64_t last_tick_ms) {
  StoredRun run;
  run.interval_ms = 10'000;
  run.started_ms = 1'000;
  run.last_tick_ms = last_tick_ms;
  return run;
}

std::vector<StoredTick> ticks(int count, std::int64_t cpu_us) {
  std::vector<StoredTick> all(static_cast<std::size_t>(count));
  for (StoredTick& tick : all) tick.total.cpu_us = cpu_us;
  return all;
}

}  // namespace

TEST_CASE("a recorder that holds the lock is recording if it ticks, and late otherwise") {
  const std::vector<StoredRun> runs{run(100'000)};
  CHECK(judge_recording(held_by(7), runs, 105'000) == Recording::active);
  CHECK(judge_recording(held_by(7), runs, 135'000) == Recording::active);
  CHECK(judge_recording(held_by(7), runs, 136'000) == Recording::late);
  CHECK(judge_recording(held_by(7), {}, 0) == Recording::active);
}

TEST_CASE("without a readable lock the end of the run or the age of the last tick decides") {
  std::vector<StoredRun> runs{run(100'000)};
  CHECK(judge_recording(held_by({}), runs, 105'000) == Recording::active);
  CHECK(judge_recording(held_by({}), runs, 200'000) == Recording::died);
  runs.back().stopped_ms = 100'000;
  runs.back().stop_reason = "stopped";
  CHECK(judge_recording(held_by({}), runs, 105'000) == Recording::stopped);
  runs.back().stop_reason = "unclean";
  CHECK(judge_recording(held_by({}), runs, 105'000) == Recording::died);
  CHECK(judge_recording(held_by({}), {}, 0) == Recording::never);
}

TEST_CASE("a readable lock that is free shows at once that the recorder crashed") {
  FileInfo free = held_by({});
  free.lock_visible = true;
  CHECK(judge_recording(free, std::vector<StoredRun>{run(100'000)}, 100'001) == Recording::died);
}

TEST_CASE("a new run has no tick yet") {
  std::vector<StoredRun> runs{run(0)};
  runs.back().last_tick_ms.reset();
  runs.back().started_ms = 50'000;
  CHECK(judge_recording(held_by(7), runs, 51'000) == Recording::active);
}

TEST_CASE("cost of ticks: mean, 95th percentile by nearest rank, share of a core") {
  std::vector<StoredTick> all = ticks(95, 20'000);
  const std::vector<StoredTick> expensive = ticks(5, 120'000);
  all.insert(all.begin(), expensive.begin(), expensive.end());
  const TickCosts costs = tick_costs(all, 10'000);
  CHECK(costs.mean_cpu_us == 25'000.0);
  CHECK(costs.p95_cpu_us == 20'000);
  CHECK(costs.core_percent == 0.25);
  CHECK(tick_costs(ticks(1, 7), 10'000).p95_cpu_us == 7);
  CHECK_FALSE(tick_costs({}, 10'000).mean_cpu_us.has_value());
}

TEST_CASE("the cost of storing is separate from the cost of ticks and counts in the share of a core") {
  std::vector<StoredTick> all = ticks(4, 20'000);
  CHECK_FALSE(tick_costs(all, 10'000).storing_us.has_value());
  all[1].storing = {6'000, 9'000};
  all[2].storing = {2'000, 9'000};
  const TickCosts costs = tick_costs(all, 10'000);
  CHECK(costs.storing_us == 4'000.0);
  CHECK(costs.mean_cpu_us == 20'000.0);
  CHECK(costs.core_percent == 0.22);
}

TEST_CASE("cost of ticks by kind: means of CPU and wall time are shown, if recorded") {
  std::vector<StoredTick> all = ticks(2, 20'000);
  CHECK_FALSE(tick_costs(all, 10'000).has_kinds());
  all[0].total.wall_us = 50'000;
  all[0].cost[static_cast<std::size_t>(CostKind::rollup)] = {8'000, 30'000};
  all[1].cost[static_cast<std::size_t>(CostKind::rollup)] = {4'000, 10'000};
  all[1].cost[static_cast<std::size_t>(CostKind::status)] = {1'000, 1'000};
  const TickCosts costs = tick_costs(all, 10'000);
  CHECK(costs.has_kinds());
  CHECK(costs.of(CostKind::rollup) == 6'000);
  CHECK(costs.kinds_wall[static_cast<std::size_t>(CostKind::rollup)] == 20'000);
  CHECK(costs.of(CostKind::status) == 500);
  CHECK(costs.mean_wall_us >= 25'000);
}

TEST_CASE("sources of PSS: means over the ticks that have them are shown, with the error of estimates") {
  std::vector<StoredTick> all = ticks(4, 20'000);
  all[1].reads = TickReads{10, 80, 10, 4, 3'000, 5, 20'000, 100};
  all[2].reads = TickReads{20, 80, 0, 0, 9'000, 0, 0, 0};
  const auto reads = sum_up_reads(all);
  REQUIRE(reads);
  CHECK(reads->exact == 15.0);
  CHECK(reads->held == 80.0);
  CHECK(reads->estimated == 5.0);
  CHECK(reads->deferred == 2.0);
  CHECK(reads->longest_us == 9'000);
  CHECK(reads->error_percent == 0.5);
  CHECK_FALSE(sum_up_reads(ticks(3, 1)));
  CHECK_FALSE(sum_up_reads({}));
}

TEST_CASE("growth per day is shown after an hour of recording") {
  CHECK(bytes_per_day(1'000'000, 2 * 3'600'000) == 12'000'000);
  CHECK_FALSE(bytes_per_day(1'000'000, 3'599'999).has_value());
}

TEST_CASE("growth is measured over the last week and gives the time until the cap") {
  constexpr std::int64_t day_ms = 86'400'000;
  FileInfo file;
  file.bytes = 200'000;
  file.max_bytes = 1'000'000;
  file.raw_ms = 7 * day_ms;
  SECTION("from the size of the file, if no earlier size is known") {
    const Growth growth = growth_of(file, 2 * day_ms);
    CHECK(growth.bytes_per_day == 100'000);
    CHECK(growth.measured_days == 0);
    CHECK(growth.filling);
    CHECK(growth.days_left == 8);
  }
  SECTION("from the size of the file a week earlier") {
    file.sizes = {{0, 10}, {12, 100'000}, {15, 130'000}, {19, 170'000}};
    const Growth growth = growth_of(file, 20 * day_ms);
    CHECK(growth.bytes_per_day == 10'000);
    CHECK(growth.measured_days == 7);
    CHECK_FALSE(growth.filling);
    CHECK(growth.days_left == 80);
  }
  SECTION("a shrinking file never reaches its cap") {
    file.sizes = {{12, 200'000}, {19, 130'000}};
    const Growth growth = growth_of(file, 20 * day_ms);
    CHECK(growth.bytes_per_day == -10'000);
    CHECK_FALSE(growth.days_left);
  }
  SECTION("a file without a cap has no such time") {
    file.max_bytes = 0;
    CHECK_FALSE(growth_of(file, 2 * day_ms).days_left);
  }
  SECTION("a file beyond its cap has reached it") {
    file.bytes = 2'000'000;
    CHECK(growth_of(file, 2 * day_ms).days_left == 0);
  }
}

}  // namespace recording_test
