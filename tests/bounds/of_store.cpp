// Bounds on the data in the file, on data that waits to be written, and on the memory of a query's result.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <malloc.h>

#include "bounds/row.h"
#include "query/commands/top/top.h"
#include "query/history.h"
#include "recorder/work_queue.h"
#include "store/events.h"
#include "store/limits.h"
#include "store/retention/user_excess.h"
#include "store/rollup/rollup.h"
#include "store/simulated_run.h"
#include "store/store_fixture.h"
#include "store/tiers.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

constexpr Range kAlways{0, 4'000'000'000'000};
constexpr std::int64_t kMib = 1 << 20;

std::int64_t bytes_of(const std::string& path) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(path, none);
  return none ? 0 : static_cast<std::int64_t>(bytes);
}

std::int64_t count_of(const std::string& path, const std::string& what) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  return database.execAndGet("SELECT COUNT(*) FROM " + what).getInt64();
}

// Gives access to a run's writer and simulation.
struct Run : SimulatedRun {
  using SimulatedRun::SimulatedRun;
  StoreFixture& fixture() { return fixture_; }
  Simulation& simulation() { return simulation_; }
  Writer& writer() { return *writer_; }
};

// Heap memory in use; 0 under the sanitizers, which have their own allocator.
std::int64_t heap_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace

void probe_processes(const BoundRow& row) {
  const std::int64_t most = row.number("of them are left");
  Run run({.processes = 500, .births = 400});
  std::int64_t last_exits = 0;
  for (std::int64_t exits = 0; exits <= most * kExcess * 12 / 10; exits += last_exits) {
    Tick tick = run.simulation().next();
    last_exits = std::ssize(tick.exits);
    for (std::size_t at = 0; at < tick.born.size(); ++at) {
      tick.born[at].uid = at % 50 == 0 ? 1001 : 1000;
      tick.born[at].user = fmt::format("u{}", tick.born[at].uid);
    }
    must(run.writer().write(tick));
  }
  run.end();
  const std::string path = run.fixture().path();
  // Counts a user's short-lived processes. Longer-lived ones are also in rollups.
  const std::string of = fmt::format(
      "process AS p JOIN user AS u ON u.id = p.user_id "
      "WHERE p.exited_ms >= p.start_ms AND p.exited_ms - p.start_ms < {} AND u.uid = ",
      kRollupTiers.front().process_age_ms);
  const std::int64_t others = count_of(path, of + "1001");
  REQUIRE(count_of(path, of + "1000") > most * kExcess);
  {
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA synchronous = OFF");
    UserExcess excess(database);
    const std::int64_t last = database.execAndGet("SELECT MAX(id) FROM tick").getInt64();
    while (excess.choose(last)) {
      SQLite::Transaction transaction(database);
      while (excess.some()) continue;
      transaction.commit();
    }
  }
  const std::int64_t left = count_of(path, of + "1000");
  CHECK(left <= most + last_exits);  // the processes of the last tick are kept
  CHECK(count_of(path, of + "1001") == others);
  CHECK(count_of(path, "event WHERE kind = 'lost' AND text LIKE '%user u1000 (uid 1000)%'") == 1);
}

void probe_rollups(const BoundRow& row) {
  CHECK(row.number("for a step") == Rollup::kStepBytes);
  // Measures the memory that stays in use after a one-hour step of a rollup.
  const auto memory_of_step = [](std::size_t processes, std::int64_t step_bytes) {
    Run run({.processes = processes, .changing = 1, .interval_ms = 60'000});
    for (int i = 0; i < 62; ++i) must(run.writer().write(run.simulation().next()));
    run.end();
    SQLite::Database database(run.fixture().path(), SQLite::OPEN_READWRITE);
    Rollup(database, step_bytes).prepare();  // SQLite's own memory
    Rollup rollup(database, step_bytes);
    const std::int64_t before = heap_in_use();
    rollup.prepare();
    CHECK_FALSE(rollup.skips_subjects());
    return heap_in_use() - before;
  };
  constexpr std::size_t kProcesses = 40;
  const std::int64_t bytes = memory_of_step(kProcesses, Rollup::kStepBytes);
  if (bytes <= 0) return;
  CHECK(memory_of_step(kProcesses * kExcess, Rollup::kStepBytes) > 3 * bytes);
  CHECK(memory_of_step(kProcesses * kExcess, bytes) <= 2 * bytes);
}

void probe_cgroup_limits(const BoundRow& row) {
  const std::int64_t changes = row.number("changes");
  const std::int64_t times = row.number("times at a limit");
  Run run({.processes = 1});
  const auto tick = [&](std::int64_t round) {
    Tick next = run.simulation().next();
    std::vector<CgroupDetail>& details = next.cgroup_details.emplace();
    for (std::int64_t i = 0; i < std::max(changes, times) * kExcess; ++i) {
      CgroupSample sample;
      sample.path = fmt::format("/user-{}", i);
      sample.current_kib = sample.max_kib.emplace(102'400 + round);
      sample.file_kib = 0;
      next.cgroups.push_back(sample);
      CgroupDetail detail;
      detail.path = sample.path;
      detail.max_events = 7 + round;
      detail.high_events = 0;
      detail.psi_some_total_us = 0;
      details.push_back(detail);
    }
    std::ranges::sort(next.cgroups, {}, &CgroupSample::path);
    std::ranges::sort(details, {}, &CgroupDetail::path);
    must(run.writer().write(next));
  };
  for (int round = 0; round < 3; ++round) tick(round);
  const auto reader = run.fixture().reader();
  std::int64_t changed = 0;
  std::int64_t more = 0;
  for (const Event& event : must(load_events(*reader, kAlways))) {
    if (event.kind != "limit-change") continue;
    (event.text.starts_with("More cgroup limits") ? more : changed) += 1;
  }
  CHECK(changed == changes);
  CHECK(more == 1);
  CHECK(std::ssize(must(load_limit_episodes(*reader, kAlways))) == times);
}

void probe_waiting_ticks(const BoundRow& row) {
  const std::int64_t ticks = row.number("ticks");
  const std::int64_t bytes = row.number("or 360");
  WorkQueue idle{QueueLimits()};
  Simulation quiet({.processes = 1});
  for (std::int64_t i = 0; i < ticks * kExcess; ++i) {
    idle.push(quiet.next());
    CHECK(static_cast<std::int64_t>(idle.ticks()) <= ticks);
  }
  CHECK(idle.lost().ticks == ticks * (kExcess - 1));
  WorkQueue busy{QueueLimits()};
  Simulation simulation({.processes = 4000, .changing = 1});
  std::int64_t given = 0;
  while (given < bytes * kExcess) {
    Tick tick = simulation.next();
    given += static_cast<std::int64_t>(tick.processes.size() * sizeof(ProcessSample));
    busy.push(std::move(tick));
    CHECK(static_cast<std::int64_t>(busy.bytes()) <= bytes);
  }
  CHECK(busy.lost().ticks > 0);
}

void probe_readers(const BoundRow& row) {
  constexpr std::int64_t kCap = 16 * kMib;
  const std::int64_t part = row.number("of `max_size`");
  const StoreFixture fixture;
  Simulation simulation({.processes = 300, .changing = 1, .births = 1});
  const auto writer = fixture.writer();
  RunInfo run = run_info(simulation.boot(), simulation.now());
  run.retention.max_bytes = kCap;
  must(writer->begin_run(run));
  must(writer->write(simulation.next()));
  SQLite::Database holder(fixture.path(), SQLite::OPEN_READONLY);
  holder.exec("BEGIN");
  REQUIRE(holder.execAndGet("SELECT COUNT(*) FROM tick").getInt64() == 1);
  int stored = 0;
  int refused = 0;
  while (refused == 0 || refused < stored * (kExcess - 1)) {
    const Status status = writer->write(simulation.next());
    status ? ++stored : ++refused;
    if (!status) CHECK(status.error().kind == ErrorKind::blocked);
    static_cast<void>(writer->maintain());
  }
  CHECK(bytes_of(fixture.path() + "-wal") <= kCap / part + kMib / 2);  // the last tick may exceed it
}

void probe_answer_rows(const BoundRow& row) {
  CHECK(row.number("rows over a range") == static_cast<std::int64_t>(query::RowPlan::kMaxRows));
  constexpr int kRows = 20;
  History history;
  history.begin_run();
  for (std::int32_t pid = 100; pid < 100 + kRows * kExcess; ++pid)
    history.birth(pid, {"p" + std::to_string(pid), "p" + std::to_string(pid)}, 1000 + pid);
  for (int i = 0; i < 3; ++i) history.tick();
  const auto reader = must(Reader::open(history.path()));
  query::TopQuery question{kAlways, Tier::raw, Metric::pss, "process"};
  question.max_rows = kRows;
  const query::TopFold few = must(query::fold_top(*reader, question, query::Filter()));
  CHECK(few.rows.size() == kRows);
  CHECK(few.left_out.count == kRows * (kExcess - 1));
  CHECK(few.held.left_out > 0);
}

}  // namespace memoir::test
