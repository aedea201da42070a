#include <SQLiteCpp/SQLiteCpp.h>
#include <set>

#include "store/rollup/pass.h"
#include "store/tiers.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

// Records half an hour of ticks a second apart, with a gap before every tenth, and with 3,600 new processes an hour.
void record_hours(const StoreFixture& fixture) {
  Simulation simulation({.processes = 20, .changing = 0.3, .short_lived = 3600, .interval_ms = 1000});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 1000)));
  for (int i = 0; i < 1800; ++i) {
    if (i % 10 == 9) simulation.pause(5000);
    must(writer->write(simulation.next()));
  }
}

std::size_t count_processes(const Segment& segment) {
  return static_cast<std::size_t>(std::ranges::count_if(segment.memory, [](const auto& of) {
    return of.first.first == static_cast<std::int64_t>(SubjectKind::process);
  }));
}

}  // namespace

TEST_CASE("a bucket with many gaps is cached once, and so is a process that started and exited in it") {
  const StoreFixture fixture;
  record_hours(fixture);
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  const Segment all = roll_up(database, 1, std::nullopt);
  REQUIRE(all.stretches.size() > 100);
  for (const auto& [key, pieces] : all.memory) {
    std::set<std::int64_t> starts;
    for (const MemoryPiece& piece : pieces) {
      CHECK(std::pair(piece.subject, piece.subject_id) == key);
      CHECK(starts.insert(piece.start_ms).second);
    }
  }
  const auto recorded = static_cast<std::size_t>(database.execAndGet("SELECT COUNT(*) FROM process").getInt64());
  REQUIRE(recorded > 1000);
  CHECK(count_processes(all) == recorded);
}

TEST_CASE("in the recorder's rollups, a process too short-lived for its own bucket is only in sums") {
  const StoreFixture fixture;
  record_hours(fixture);
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  const std::int64_t last = database.execAndGet("SELECT MAX(id) FROM tick").getInt64();
  const Segment written = roll_up(database, 1, last);
  const Segment all = roll_up(database, 1, std::nullopt);
  const std::int64_t age_ms = kRollupTiers.front().process_age_ms;
  for (const auto& [key, pieces] : all.memory) {
    const auto found = written.memory.find(key);
    const bool process = key.first == static_cast<std::int64_t>(SubjectKind::process);
    // `written` lacks the last tick, so lifetimes may differ by a few seconds.
    if (!process) CHECK(found != written.memory.end());
    if (process && pieces.front().lived_ms < age_ms) CHECK(found == written.memory.end());
    if (process && pieces.front().lived_ms > age_ms + 10'000) CHECK(found != written.memory.end());
  }
  CHECK(count_processes(written) >= 20);
  CHECK(count_processes(written) < count_processes(all) / 10);
}

}  // namespace memoir::test
