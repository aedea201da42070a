// A snapshot equals its tick, field by field.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <stop_token>

#include "random_history.h"
#include "recorded.h"
#include "store/names.h"
#include "store/states.h"
#include "store_fixture.h"
#include "support/simulation.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{1} << 20U;

void check_same(const ProcessState& one, const ProcessState& among) {
  REQUIRE_OF_MANY(one.process.id == among.process.id);
  REQUIRE_OF_MANY(one.process.info == among.process.info);
  REQUIRE_OF_MANY(one.process.last_ms == among.process.last_ms);
  REQUIRE_OF_MANY(one.process.exited_ms == among.process.exited_ms);
  REQUIRE_OF_MANY(one.sample == among.sample);
}

// Checks that stepping to a snapshot and loading it give the same state.
void check_stepped(const Snapshot& stepped, const Snapshot& loaded) {
  REQUIRE(stepped.tick.id == loaded.tick.id);
  REQUIRE(stepped.tick.begin == loaded.tick.begin);
  REQUIRE(stepped.tick.counts == loaded.tick.counts);
  REQUIRE(stepped.run.id == loaded.run.id);
  REQUIRE(stepped.run.last_tick_ms == loaded.run.last_tick_ms);
  REQUIRE(stepped.run.stop_reason == loaded.run.stop_reason);
  REQUIRE(stepped.machine == loaded.machine);
  REQUIRE(stepped.categories == loaded.categories);
  REQUIRE(stepped.cgroups == loaded.cgroups);
  REQUIRE(stepped.processes.size() == loaded.processes.size());
  for (std::size_t i = 0; i < loaded.processes.size(); ++i) check_same(stepped.processes[i], loaded.processes[i]);
}

// Compares each process of the file, queried alone, with the snapshot; it is absent if the snapshot lacks it.
void check_single(Reader& reader, const Snapshot& snapshot, const std::vector<StoredProcess>& all) {
  std::map<std::int64_t, const ProcessState*> alive;
  for (const ProcessState& state : snapshot.processes) alive[state.process.id] = &state;
  for (const StoredProcess& process : all) {
    const auto one = must(load_process(reader, snapshot.tick.id, process.id));
    const auto found = alive.find(process.id);
    REQUIRE_OF_MANY(one.has_value() == (found != alive.end()));
    if (one) check_same(*one, *found->second);
  }
}

void check_lives(const std::vector<StoredLife>& lives, const std::vector<StoredProcess>& processes) {
  REQUIRE(lives.size() == processes.size());
  for (std::size_t i = 0; i < lives.size(); ++i) {
    REQUIRE_OF_MANY(lives[i].process_id == processes[i].id);
    REQUIRE_OF_MANY(lives[i].identity_id == processes[i].identity_id);
    REQUIRE_OF_MANY(lives[i].pid == processes[i].info.key.pid);
    REQUIRE_OF_MANY(lives[i].start_ms == processes[i].info.start_ms);
    REQUIRE_OF_MANY(lives[i].first_ms == processes[i].first_ms);
    REQUIRE_OF_MANY(lives[i].exited_ms == processes[i].exited_ms);
  }
}

// Compares the processes that ran in a range of ticks with the rows of all processes.
void check_lived(Reader& reader, const std::string& path, std::int64_t first, std::int64_t last, Range range) {
  SQLite::Database file(path, SQLite::OPEN_READONLY);
  SQLite::Statement rows(file, "SELECT id, first_tick_id, exited_tick_id FROM process ORDER BY id");
  std::vector<std::int64_t> expected;
  while (rows.executeStep()) {
    const std::int64_t born = rows.getColumn(1).getInt64();
    const std::int64_t gone = rows.getColumn(2).isNull() ? last + 1 : rows.getColumn(2).getInt64();
    if (born <= last && (gone > first || born >= first)) expected.push_back(rows.getColumn(0).getInt64());
  }
  const auto processes = must(load_processes(reader, range));
  std::vector<std::int64_t> lived;
  for (const StoredProcess& process : processes) lived.push_back(process.id);
  REQUIRE(lived == expected);
  check_lives(must(load_lives(reader, range)), processes);
}

void run_history(std::uint32_t seed) {
  const StoreFixture fixture;
  RandomHistory history(seed);
  std::vector<Recorded> ticks;
  const int runs = static_cast<int>(history.number(1, 4));
  for (int run = 0; run < runs; ++run) {
    if (run > 0) history.restart(history.chance(0.3));
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(history.boot(), history.now())));
    const auto count = history.number(1, 40);
    for (std::int64_t i = 0; i < count; ++i) {
      if (history.chance(0.1)) history.lose_tick();
      const Tick tick = history.next();
      must(writer->write(tick));
      ticks.push_back({tick, history.boot().boot_id, i == 0});
    }
    if (history.chance(0.5)) must(writer->end_run(history.now(), "stopped"));
  }
  const auto reader = fixture.reader();
  const Range always{0, std::numeric_limits<std::int64_t>::max()};
  const auto all = must(load_processes(*reader, always));
  check_lives(must(load_lives(*reader, always)), all);
  if (!all.empty()) {
    std::vector<StoredProcess> relatives;
    std::ranges::copy_if(all, std::back_inserter(relatives),
                         [&](const StoredProcess& process) { return process.identity_id == all[0].identity_id; });
    check_lives(must(load_lives(*reader, always, all[0].identity_id)), relatives);
  }
  const bool in_order =
      std::ranges::is_sorted(ticks, std::less_equal(), [](const Recorded& of) { return of.tick.begin.wall_ms; });
  const auto stepping = fixture.reader();
  stepping->keep_snapshots(kKeptBytes);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    INFO("seed " << seed << ", tick " << i + 1);
    const Snapshot snapshot = must(reader->snapshot(static_cast<std::int64_t>(i) + 1));
    check(snapshot, ticks[i], history.infos());
    check_stepped(must(stepping->snapshot(static_cast<std::int64_t>(i) + 1)), snapshot);
    // With many processes and ticks, only some ticks are checked.
    if (i % 7 == seed % 7) check_single(*reader, snapshot, all);
    if (!in_order) continue;  // a range of the wall clock is not a contiguous range of ticks
    const std::size_t last = std::min(i + seed % 5, ticks.size() - 1);
    check_lived(*reader, fixture.path(), static_cast<std::int64_t>(i) + 1, static_cast<std::int64_t>(last) + 1,
                {ticks[i].tick.begin.wall_ms, ticks[last].tick.begin.wall_ms});
  }
  REQUIRE(stepping->snapshot(static_cast<std::int64_t>(ticks.size()) + 1).error().kind == ErrorKind::not_found);
  stepping->keep_snapshots(kKeptBytes);
  for (auto id = static_cast<std::int64_t>(ticks.size()); id > 0; --id)
    check_stepped(must(stepping->snapshot(id)), must(reader->snapshot(id)));
}

TEST_CASE("a snapshot equals the written tick, and a query for one process has its part, over random histories") {
  for (std::uint32_t seed = 1; seed <= trials(60U); ++seed) run_history(seed);
}

TEST_CASE("a snapshot of a simulated server equals its tick while it is written") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 50, .changing = 0.2, .births = 0.5});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  const auto reader = [&] {
    must(writer->write(simulation.next()));
    return fixture.reader();
  }();
  for (int i = 0; i < 400; ++i) {
    const Tick tick = simulation.next();
    must(writer->write(tick));
    const auto at = must(reader->tick_at(tick.begin.wall_ms + 1));
    REQUIRE(at);
    const Snapshot snapshot = must(reader->snapshot(at->id));
    REQUIRE(snapshot.machine == tick.machine);
    REQUIRE(snapshot.categories == tick.categories);
    REQUIRE(snapshot.processes.size() == tick.processes.size());
    for (std::size_t p = 0; p < tick.processes.size(); ++p)
      REQUIRE_OF_MANY(snapshot.processes[p].sample == tick.processes[p]);
  }
}

TEST_CASE("cached snapshots are right during recording, when stepping back, at any tick, and if few fit") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 50, .changing = 0.2, .births = 0.5, .short_lived = 500});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  must(writer->write(simulation.next()));
  const auto reader = fixture.reader();
  const auto stepping = fixture.reader();
  stepping->keep_snapshots(kKeptBytes);
  constexpr std::int64_t count = 400;
  for (std::int64_t id = 1; id < count; ++id) {
    const Snapshot snapshot = must(stepping->snapshot(id));
    if (id % 10 == 0) check_stepped(snapshot, must(reader->snapshot(id)));
    must(writer->write(simulation.next()));
  }
  REQUIRE(stepping->snapshot(count + 1).error().kind == ErrorKind::not_found);
  std::vector<Snapshot> loaded;
  for (std::int64_t id = 1; id <= count; ++id) loaded.push_back(must(reader->snapshot(id)));
  const auto check_at = [&](std::int64_t id) {
    INFO("tick " << id);
    check_stepped(must(stepping->snapshot(id)), loaded[static_cast<std::size_t>(id) - 1]);
  };
  for (const std::size_t bytes : {std::size_t{1}, kKeptBytes / 16, kKeptBytes}) {
    stepping->keep_snapshots(bytes);
    for (const std::int64_t id : {17, 18, 17, 16, 15, 398, 397, 400, 399, 1, 2, 1}) check_at(id);
    for (std::int64_t id = count; id > 300; --id) check_at(id);
    for (std::int64_t id = 300; id <= count; ++id) check_at(id);
  }
}

TEST_CASE("a request to stop interrupts a snapshot, and the next ones are right") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 50});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  for (int i = 0; i < 20; ++i) must(writer->write(simulation.next()));
  const auto reader = fixture.reader();
  reader->keep_snapshots(kKeptBytes);
  const Snapshot before = must(reader->snapshot(7));
  std::stop_source stop;
  stop.request_stop();
  reader->start_answer({}, stop.get_token());
  REQUIRE(reader->snapshot(8).error().kind == ErrorKind::blocked);
  reader->start_answer({});
  check_stepped(must(reader->snapshot(7)), before);
  check_stepped(must(reader->snapshot(8)), must(fixture.reader()->snapshot(8)));
}

TEST_CASE("a tick that is not recorded is an error that names the file") {
  const StoreFixture fixture;
  fixture.writer();
  const auto snapshot = fixture.reader()->snapshot(7);
  REQUIRE(!snapshot.ok());
  REQUIRE(snapshot.error().kind == ErrorKind::not_found);
  REQUIRE(snapshot.error().message.find(fixture.path()) != std::string::npos);
  REQUIRE_FALSE(must(load_process(*fixture.reader(), 7, 1)).has_value());
}

}  // namespace
}  // namespace memoir::test
