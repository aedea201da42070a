#include <SQLiteCpp/SQLiteCpp.h>
#include <array>
#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include "random_history.h"
#include "store_fixture.h"
#include "support/simulation.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kIntervalMs = 600'000;
constexpr std::int64_t kRoundMs = 12 * 3'600'000;
const std::size_t kRounds = trials(std::size_t{200});

// Writes ticks until it is killed, and reports each acknowledged tick. Writes are not synced, because the kernel
// survives the kill. Ticks are ten minutes apart, so that every few ticks cause a rollup.
[[noreturn]] void write_until_killed(const std::string& path, std::uint64_t round, int report) {
  const std::int64_t since = static_cast<std::int64_t>(round) * kRoundMs;
  Simulation simulation({.processes = 15,
                         .changing = 0.5,
                         .births = 1,
                         .interval_ms = kIntervalMs,
                         .seed = round,
                         .start = {1'790'000'000'000 + since, 86'400'000 + since}});
  const auto writer = must(Writer::open(path, Durability::normal));
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), kIntervalMs)));
  while (true) {
    must(writer->write(simulation.next()));
    if (write(report, "x", 1) != 1) _exit(1);
    must(writer->maintain());
  }
}

// Kills a writer some time after its `least`-th tick. Returns the number of acknowledged ticks.
int kill_a_writer(const std::string& path, std::uint64_t seed, std::int64_t least, std::int64_t linger_us) {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) write_until_killed(path, seed, pipe_ends[1]);
  close(pipe_ends[1]);
  int acknowledged = 0;
  char byte = 0;
  while (acknowledged < least && read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
  usleep(static_cast<useconds_t>(linger_us));  // the kill comes at a random point of a write
  kill(child, SIGKILL);
  while (read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  return acknowledged;
}

void finish_maintenance(const StoreFixture& fixture) {
  const auto writer = fixture.writer();
  while (must(writer->maintain()).more) continue;
}

// Compares the rollups with rollups that are computed from the raw rows without a kill.
void check_rollups(const StoreFixture& fixture) {
  const StoreFixture whole;
  for (const char* suffix : {"", "-wal"}) std::filesystem::copy_file(fixture.path() + suffix, whole.path() + suffix);
  constexpr std::array kTables{"rollup_5min",  "rollup_hour", "rollup_day", "machine_5min",
                               "machine_hour", "machine_day", "stretch"};
  {
    SQLite::Database database(whole.path(), SQLite::OPEN_READWRITE);
    for (const char* table : kTables) database.exec(std::string("DELETE FROM ") + table);
    database.exec("UPDATE rollup_progress SET tick_id = 0, target_tick_id = 0, next_subject = 0, next_subject_id = 0");
  }
  finish_maintenance(whole);
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
  database.exec("ATTACH '" + whole.path() + "' AS whole");
  for (const std::string table : kTables) {
    const auto count = [&](const std::string& rows) {
      return database.execAndGet("SELECT COUNT(*) FROM (" + rows + ")").getInt64();
    };
    INFO(table);
    REQUIRE(count("SELECT * FROM main." + table) > 0);
    REQUIRE(count("SELECT * FROM main." + table + " EXCEPT SELECT * FROM whole." + table) == 0);
    REQUIRE(count("SELECT * FROM whole." + table + " EXCEPT SELECT * FROM main." + table) == 0);
  }
}

TEST_CASE("a writer killed at any moment loses no acknowledged tick, and neither loses nor duplicates a rollup") {
  const StoreFixture fixture;
  RandomHistory chance(11);
  std::int64_t ticks = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    INFO("round " << round);
    const int got = kill_a_writer(fixture.path(), round, chance.number(1, 6), chance.number(0, 3000));
    REQUIRE(got > 0);
    const auto reader = fixture.reader();
    const std::int64_t now = must(reader->info()).ticks;
    REQUIRE(now >= ticks + got);
    REQUIRE(now <= ticks + got + 1);  // one more may be committed but not reported
    ticks = now;
    must(reader->snapshot(ticks));
    if (round % 20 != 0) continue;
    SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
    REQUIRE(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
  }
  finish_maintenance(fixture);
  const auto runs = must(fixture.reader()->runs());
  REQUIRE(runs.size() == kRounds);
  for (const StoredRun& run : runs) REQUIRE(run.stop_reason == "unclean");
  check_rollups(fixture);
}

}  // namespace
}  // namespace memoir::test
