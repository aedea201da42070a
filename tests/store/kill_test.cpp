#include <SQLiteCpp/SQLiteCpp.h>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "random_history.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

// Writes ticks and reports each that is acknowledged, until it is killed.
[[noreturn]] void write_until_killed(const std::string& path, std::uint64_t seed, int report) {
  Simulation simulation({.processes = 100, .changing = 0.5, .births = 2, .seed = seed});
  const auto writer = must(Writer::open(path, Durability::full));
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  while (true) {
    must(writer->write(simulation.next()));
    if (write(report, "x", 1) != 1) _exit(1);
  }
}

// Kills a writer some time after its `least`-th tick; how many it had acknowledged.
int kill_a_writer(const std::string& path, std::uint64_t seed, std::int64_t least, std::int64_t linger_us) {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) write_until_killed(path, seed, pipe_ends[1]);
  close(pipe_ends[1]);
  int acknowledged = 0;
  char byte = 0;
  while (acknowledged < least && read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
  usleep(static_cast<useconds_t>(linger_us));  // where in a write it dies is left to chance
  kill(child, SIGKILL);
  while (read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  return acknowledged;
}

TEST_CASE("a writer killed at any moment has lost no tick that it acknowledged") {
  const StoreFixture fixture;
  RandomHistory chance(11);
  std::int64_t acknowledged = 0;
  for (std::uint64_t round = 1; round <= 20; ++round) {
    INFO("round " << round);
    const std::int64_t before = round == 1 ? 0 : must(fixture.reader()->info()).ticks;
    const int got = kill_a_writer(fixture.path(), round, chance.number(1, 8), chance.number(0, 3000));
    REQUIRE(got > 0);
    acknowledged += got;
    const auto reader = fixture.reader();
    const std::int64_t ticks = must(reader->info()).ticks - before;
    REQUIRE(ticks >= got);
    REQUIRE(ticks <= got + 1);  // committed, but not reported any more
    must(reader->snapshot(before + ticks));
    SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
    REQUIRE(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
  }
  fixture.writer();
  const auto runs = must(fixture.reader()->runs());
  REQUIRE(runs.size() == 20);
  for (const StoredRun& run : runs) REQUIRE(run.end_reason == "unclean");
  REQUIRE(must(fixture.reader()->info()).ticks >= acknowledged);
}

}  // namespace
}  // namespace memoir::test
