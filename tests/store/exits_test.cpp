// Exits of processes: rows, sums, and the marks of unsampled processes.

#include "store/exits.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/names.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

constexpr Range kAllOfIt{0, 4'000'000'000'000};

ProcessInfo stranger(std::int32_t pid, const std::string& comm) {
  ProcessInfo info;
  info.key = {pid, 77, 0};
  info.comm = info.command = comm;
  info.user = "root";
  info.cgroup = "/app.slice";
  info.category = "other";
  return info;
}

ExitSum sum_of(const std::string& comm, std::int64_t count, std::int64_t at_ms, std::int64_t peak_kib) {
  return {comm, "root", "/app.slice", count, at_ms, at_ms, 10 * count, peak_kib, at_ms};
}

// A running process, and a recorder that reports exits of other processes.
struct Ending {
  StoreFixture fixture;
  Simulation simulation{{.processes = 1,
                         .changing = 0,
                         .births = 0,
                         .start = {1'790'000'000'000 - 1'790'000'000'000 % 300'000, 100'000}}};
  std::unique_ptr<Writer> writer = fixture.writer();
  Tick tick;

  Ending() {
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    next();
    write();
  }
  void next() {
    tick = simulation.next();
    tick.events = TickEvents{};
  }
  void write() { must(writer->write(tick)); }
  // Adds the exit of an unsampled process.
  void end(std::int32_t pid, const std::string& comm, std::int64_t peak_kib) {
    const std::int64_t at_ms = tick.begin.wall_ms - 2'000;
    tick.born.push_back(stranger(pid, comm));
    tick.exit_records.push_back({{pid, 77, 0}, at_ms, 40, 9, peak_kib, MemoryAtExit{1, 2, 3, 4}});
    tick.extremes.processes.push_back({{pid, 77, 0}, {}, {}, {{}, SeenSize{peak_kib, at_ms, at_ms - 40}}});
    ++tick.events->exits;
  }
};

}  // namespace

TEST_CASE("exits: they are read back as reported, with their process") {
  Ending ending;
  ending.next();
  ending.end(900, "spike", 9'000'000);
  const ExitRecord expected = ending.tick.exit_records.front();
  ending.write();
  const auto reader = ending.fixture.reader();
  const auto ends = must(load_exits(*reader, kAllOfIt));
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].record == expected);
  const auto processes = must(load_processes_by_id(*reader, {ends[0].process_id}));
  REQUIRE(processes.size() == 1);
  CHECK(processes[0].info.comm == "spike");
  CHECK(processes[0].exit_kind == "exited");
  CHECK(must(load_exit_of(*reader, ends[0].process_id)) == expected);
  CHECK(must(load_exits(*reader, {0, expected.exited_ms - 1})).empty());
  CHECK(must(load_exits(*reader, {expected.exited_ms, expected.exited_ms})).size() == 1);
  const ExitTotals totals = must(load_exit_totals(*reader, kAllOfIt));
  CHECK(totals.exits == 1);
  CHECK(totals.ticks_reported == 2);
}

TEST_CASE("exits: an unsampled process has its peak at its exit, stored or not, and sets its identity's mark") {
  Ending ending;
  for (int i = 0; i < 3; ++i) {
    ending.next();
    if (i == 1) ending.end(900, "spike", 9'000'000);
    ending.write();
  }
  const std::int64_t exited_ms = ending.tick.begin.wall_ms - 10'000 - 2'000;
  const bool stored = GENERATE(false, true);
  if (stored) must(ending.writer->end_run(ending.simulation.now(), "stopped"));
  const auto reader = ending.fixture.reader();
  const ProcessMarks marks = must(reader->process_marks(std::nullopt, std::nullopt, Metric::hwm, 1));
  REQUIRE(marks.marks.size() == 1);
  CHECK(marks.marks[0].value_kib == 9'000'000);
  CHECK(marks.marks[0].at_ms == exited_ms);
  CHECK(marks.marks[0].before_ms == exited_ms - 40);
  std::optional<HighWater> mark;
  for (const HighWater& of : must(reader->high_water(std::nullopt, {SubjectKind::identity}))) {
    if (of.metric == Metric::hwm && of.name.ends_with("spike")) mark = of;
  }
  REQUIRE(mark);
  CHECK(mark->value_kib == 9'000'000);
  CHECK(mark->at_ms == exited_ms);
}

TEST_CASE("exits: other exits are summed over five minutes") {
  Ending ending;
  const std::int64_t begin_ms = ending.tick.begin.wall_ms;
  std::int64_t ticks = 0;
  for (; ending.tick.begin.wall_ms < begin_ms + 590'000; ++ticks) {
    ending.next();
    const std::int64_t at_ms = ending.tick.begin.wall_ms - 1;
    ending.tick.exit_sums = {sum_of("sh", 3, at_ms, 1'000 + ticks), sum_of("true", 1, at_ms, 0)};
    ending.write();
  }
  const auto reader = ending.fixture.reader();
  std::int64_t shells = 0;
  std::int64_t highest = 0;
  std::size_t rows = 0;
  for (const ExitSum& sum : must(load_exit_sums(*reader, kAllOfIt))) {
    CHECK(sum.cgroup == "/app.slice");
    CHECK(sum.lived_ms == 10 * sum.count);
    CHECK(sum.last_ms > sum.first_ms);
    if (sum.comm != "sh") continue;
    ++rows;
    shells += sum.count;
    if (sum.peak_kib > highest) {
      highest = sum.peak_kib;
      CHECK(sum.peak_ms == sum.last_ms);
    }
  }
  CHECK(shells == 3 * ticks);
  CHECK(highest == 1'000 + ticks - 1);
  CHECK(rows == 2);
}

TEST_CASE("exits: a mark that the samples already have uses no row") {
  Ending ending;
  const ProcessSample lives = ending.tick.processes.front();
  const std::int64_t hwm_kib = *high_water_kib(lives.memory);
  const std::int64_t above_kib = GENERATE(100, 5'000);
  ending.next();
  const std::int64_t at_ms = ending.tick.begin.wall_ms - 1;
  ending.tick.extremes.processes = {{lives.key, {}, {}, {{}, SeenSize{hwm_kib + above_kib, at_ms}}}};
  ending.write();
  SQLite::Database database(ending.fixture.path(), SQLite::OPEN_READONLY);
  CHECK(database.execAndGet("SELECT count(*) FROM extreme").getInt() == (above_kib > 256 ? 1 : 0));
}

TEST_CASE("exits: an hour without exits uses no row") {
  Ending ending;
  for (int i = 0; i < 360; ++i) {
    ending.next();
    ending.write();
  }
  SQLite::Database database(ending.fixture.path(), SQLite::OPEN_READONLY);
  for (const char* table : {"process_exit", "exit_sum", "extreme", "event"}) {
    CAPTURE(table);
    CHECK(database.execAndGet(std::string("SELECT count(*) FROM ") + table).getInt() == 0);
  }
}

}  // namespace memoir::test
