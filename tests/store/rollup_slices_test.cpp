#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "store/rollup/rollup.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

// Records three hours of ticks, with processes that exit.
void record(const StoreFixture& fixture, std::size_t processes, double short_lived) {
  Simulation simulation(
      {.processes = processes, .changing = 0.2, .births = 2, .short_lived = short_lived, .interval_ms = 60'000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
  for (int i = 0; i < 180; ++i) must(writer->write(simulation.next()));
}

bool write_piece(SQLite::Database& database, Rollup& rollup) {
  SQLite::Transaction transaction(database);
  const bool more = rollup.write_piece();
  transaction.commit();
  return more;
}

void write_all(SQLite::Database& database, Rollup& rollup) {
  for (int i = 0; i < 100'000 && rollup.due(); ++i) {
    rollup.prepare();
    write_piece(database, rollup);
  }
  REQUIRE_FALSE(rollup.due());
}

// Sums of one metric of one subject in a tier.
struct Sum {
  std::int64_t covered_ms = 0;
  double weighted = 0;
  std::int64_t min = INT64_MAX;
  std::int64_t max = 0;
  std::int64_t last = 0;
};
using Sums = std::map<std::tuple<Tier, SubjectKind, std::int64_t, Metric>, Sum>;

Sums sums_of(const StoreFixture& fixture) {
  Sums sums;
  const auto reader = fixture.reader();
  for (const Tier tier : {Tier::five_minutes, Tier::hour, Tier::day}) {
    for (const SubjectKind kind : kAllKinds) {
      const HistoryQuery question{.tier = tier,
                                  .kind = kind,
                                  .range = {0, 4'000'000'000'000},
                                  .metrics = {kind == SubjectKind::machine ? Metric::used : Metric::pss}};
      must(reader->history(question, [&](const SubjectInterval& of) {
        Sum& sum = sums[{tier, kind, of.subject_id, of.metric}];
        sum.covered_ms += of.interval.covered_ms;
        if (!of.interval.mean) return;
        sum.weighted += static_cast<double>(*of.interval.mean) * static_cast<double>(of.interval.covered_ms);
        sum.min = std::min(sum.min, *of.interval.min);
        sum.max = std::max(sum.max, *of.interval.max);
        sum.last = *of.interval.last;
      }));
    }
  }
  return sums;
}

std::int64_t attempts(SQLite::Database& database) {
  return database.execAndGet("SELECT attempts FROM rollup_progress").getInt64();
}

}  // namespace

TEST_CASE("rollups in small steps equal those in steps of an hour") {
  const StoreFixture whole;
  const StoreFixture sliced;
  record(whole, 40, 600);
  record(sliced, 40, 600);
  SQLite::Database of_whole(whole.path(), SQLite::OPEN_READWRITE);
  SQLite::Database of_sliced(sliced.path(), SQLite::OPEN_READWRITE);
  Rollup by_hours(of_whole);
  Rollup in_slices(of_sliced, 1);
  in_slices.prepare();
  write_piece(of_sliced, in_slices);
  const std::int64_t end = of_sliced.execAndGet("SELECT target_tick_id FROM rollup_progress").getInt64();
  CHECK(end <= 10);
  write_all(of_whole, by_hours);
  write_all(of_sliced, in_slices);
  const Sums expected = sums_of(whole);
  const Sums found = sums_of(sliced);
  REQUIRE(found.size() == expected.size());
  for (const auto& [key, sum] : expected) {
    const Sum& other = found.at(key);
    INFO(to_string(std::get<0>(key)) << ' ' << static_cast<int>(std::get<1>(key)) << ' ' << std::get<2>(key));
    CHECK(other.covered_ms == sum.covered_ms);
    CHECK(other.min == sum.min);
    CHECK(other.max == sum.max);
    CHECK(other.last == sum.last);
    // Each mean is rounded, which limits the accuracy.
    CHECK(std::abs(other.weighted - sum.weighted) <= 2.0 * static_cast<double>(sum.covered_ms));
  }
}

TEST_CASE(
    "a step during which the recorder crashed is made smaller, and after three times skips processes and groups") {
  const StoreFixture fixture;
  record(fixture, 40, 0);
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
  for (int crashes = 0; crashes < 3; ++crashes) {
    INFO(crashes);
    CHECK(attempts(database) == crashes);
    Rollup(database, 1).prepare();
  }
  CHECK(attempts(database) == 3);
  Rollup rollup(database, 1);
  rollup.prepare();
  CHECK(rollup.skips_subjects());
  while (write_piece(database, rollup)) continue;
  CHECK(attempts(database) == 0);
  CHECK(database.execAndGet("SELECT COUNT(*) FROM rollup_5min").getInt64() == 0);
  CHECK(database.execAndGet("SELECT COUNT(*) FROM machine_5min").getInt64() > 0);
  CHECK(database.execAndGet("SELECT COUNT(*) FROM stretch").getInt64() > 0);
  write_all(database, rollup);
  CHECK(database.execAndGet("SELECT COUNT(*) FROM rollup_5min").getInt64() > 0);
}

}  // namespace memoir::test
