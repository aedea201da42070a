#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "model/identity.h"
#include "store/names.h"
#include "store/retention/pass.h"
#include "store/tables.h"
#include "store_fixture.h"
#include "support/simulation.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr Range kAll{-kDay, 9'000'000'000'000};

std::int64_t number(const std::string& path, const std::string& sql) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  return database.execAndGet(sql).getInt64();
}

// Calls maintain() until all is done, and at least once.
template <typename Visit>
void maintain(Writer& writer, Visit&& visit) {
  while (true) {
    const Maintenance done = must(writer.maintain());
    visit(done);
    if (!done.more) return;
  }
}
void maintain(Writer& writer) {
  maintain(writer, [](const Maintenance&) {});
}

// A recorder on a simulated machine.
class Recording {
 public:
  Recording(const StoreFixture& fixture, const SimulationOptions& options, const Retention& retention)
      : fixture_(fixture), interval_ms_(options.interval_ms), retention_(retention), simulation_(options) {
    begin();
  }

  void begin() {
    writer_ = fixture_.writer();
    RunInfo run = run_info(simulation_.boot(), simulation_.now(), interval_ms_);
    run.retention = retention_;
    must(writer_->begin_run(run));
  }
  void end() {
    must(writer_->end_run(simulation_.now(), "stopped"));
    writer_.reset();
  }
  // Records ticks, with maintenance between them.
  template <typename See>
  void go_on(std::int64_t ms, See&& see) {
    for (std::int64_t i = 0; i < ms / interval_ms_; ++i) {
      const Tick tick = simulation_.next();
      must(writer_->write(tick));
      maintain(*writer_);
      see(tick);
    }
  }
  void go_on(std::int64_t ms) {
    go_on(ms, [](const Tick&) {});
  }

  Simulation& simulation() { return simulation_; }
  Writer& writer() { return *writer_; }
  void keep(const Retention& retention) { retention_ = retention; }

 private:
  const StoreFixture& fixture_;
  std::int64_t interval_ms_;
  Retention retention_;
  Simulation simulation_;
  std::unique_ptr<Writer> writer_;
};

constexpr SimulationOptions kSmall{.processes = 10, .births = 0.3, .short_lived = 20, .interval_ms = 10 * kMinute};
constexpr Retention kDays{.raw_ms = kDay, .five_minutes_ms = 3 * kDay, .hour_ms = 6 * kDay, .day_ms = 12 * kDay};
// Rows may be kept this much longer: deletion waits for the rollup of their hour and for the next keyframe.
constexpr std::int64_t kLateMs = 3 * kHour;

// Returns all values of a tick as a short text.
std::string digest(const Snapshot& snapshot) {
  std::int64_t sum = snapshot.machine.memory.or_zero(MachineField::mem_available);
  for (const ProcessState& state : snapshot.processes)
    sum += state.process.id * state.sample.memory.or_zero(ProcessField::rss) + state.sample.threads;
  for (const CategorySample& category : snapshot.categories) sum += category.pss_kib * category.processes;
  return std::to_string(snapshot.tick.begin.wall_ms) + " " + std::to_string(snapshot.processes.size()) + " " +
         std::to_string(sum);
}

// Returns the number of rows of each table.
std::map<std::string, std::int64_t> rows_of(const std::string& path) {
  std::map<std::string, std::int64_t> rows;
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  SQLite::Statement tables(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  while (tables.executeStep()) {
    const std::string table = tables.getColumn(0).getString();
    rows[table] = database.execAndGet("SELECT COUNT(*) FROM " + table).getInt64();
  }
  return rows;
}

std::int64_t file_bytes(const std::string& path) {
  return static_cast<std::int64_t>(fs::file_size(path) + fs::file_size(path + "-wal"));
}

}  // namespace

TEST_CASE("each tier is kept for its age, and not much longer") {
  const StoreFixture fixture;
  Recording recording(fixture, kSmall, kDays);
  recording.go_on(20 * kDay);
  const std::int64_t now = recording.simulation().now().wall_ms;
  const auto age = [&](const std::string& sql, std::int64_t unit) { return now - number(fixture.path(), sql) * unit; };
  const auto is_kept = [&](std::int64_t oldest, std::int64_t wanted, std::int64_t block) {
    CHECK(oldest >= wanted);
    CHECK(oldest <= wanted + block + kLateMs);
  };
  is_kept(age("SELECT MIN(wall_ms) FROM tick", 1), kDay, kHour);
  for (const StoreTable& table : tables_of(TableKind::rollups)) {
    if (table.name.starts_with("swap_")) continue;  // there is no swap here; swap_rows_test.cpp tests these
    INFO(table.name);
    const TierShape& shape = shape_of(table.tier);
    is_kept(age(fmt::format("SELECT MIN({}) FROM {}", table.age, table.name), shape.block_ms()), kDays.*shape.kept_ms,
            shape.block_ms());
  }
  is_kept(age("SELECT MIN(day_ms) FROM high_water WHERE day_ms >= 0", 1), 12 * kDay, kDay);
  const auto first = "(SELECT MIN(id) FROM tick)";
  for (const StoreTable& table : tables_of(TableKind::samples)) {
    INFO(table.name);
    CHECK(number(fixture.path(), fmt::format("SELECT COUNT(*) FROM {} WHERE {} < {}", table.name, table.age, first)) ==
          0);
  }
  // The first kept tick must be a keyframe to be readable.
  CHECK(number(fixture.path(), "SELECT COUNT(*) FROM tick WHERE keyframe_id < (SELECT MIN(id) FROM tick)") == 0);
}

TEST_CASE("names without rows are deleted, and nothing else") {
  const StoreFixture fixture;
  Recording recording(fixture, kSmall, kDays);
  std::map<std::string, std::int64_t> peaks;  // highest peak of each identity's processes
  std::map<ProcessKey, std::string> identities;
  const auto note = [&](const Tick& tick) {
    for (const ProcessInfo& info : tick.born) {
      const Identity identity = identity_of(info);
      identities[info.key] = identity.unit + " " + identity.exe + " " + identity.command;
    }
    for (const ProcessSample& sample : tick.processes) {
      std::int64_t& peak = peaks[identities.at(sample.key)];
      peak = std::max(peak, high_water_kib(sample.memory).value_or(0));
    }
  };
  recording.go_on(20 * kDay, note);
  // Names that no process uses are deleted once a day.
  const auto last_scan = [&] { return number(fixture.path(), "SELECT MAX(recorded_day) FROM store_size"); };
  for (const std::int64_t before = last_scan(); last_scan() == before;) recording.go_on(10 * kMinute, note);
  const std::string& path = fixture.path();
  const std::string now = std::to_string(recording.simulation().now().wall_ms);
  const auto count = [&](const std::string& sql) { return number(path, sql); };
  const auto processes = [&](std::int64_t shortest, std::int64_t longest, std::int64_t age) {
    return count("SELECT COUNT(*) FROM process WHERE exited_tick_id IS NOT NULL AND last_ms - start_ms >= " +
                 std::to_string(shortest) + " AND last_ms - start_ms < " + std::to_string(longest) + " AND last_ms < " +
                 now + " - " + std::to_string(age));
  };
  // Raw rows include all processes; buckets include only those that ran long enough.
  CHECK(processes(0, 15 * kMinute, 0) > 0);
  CHECK(processes(0, 15 * kMinute, kDay + kHour + kLateMs) == 0);
  CHECK(processes(15 * kMinute, kHour, kDay + kHour + kLateMs) > 0);
  CHECK(processes(15 * kMinute, kHour, 3 * kDay + kHour + kLateMs) == 0);
  CHECK(processes(kHour, kDay, 3 * kDay + kHour + kLateMs) > 0);
  CHECK(processes(kHour, kDay, 7 * kDay + kLateMs) == 0);
  CHECK(processes(kDay, 100 * kDay, 7 * kDay + kLateMs) > 0);
  CHECK(processes(kDay, 100 * kDay, 13 * kDay + kLateMs) == 0);

  CHECK(count("SELECT COUNT(*) FROM high_water AS h WHERE subject = 2 AND NOT EXISTS "
              "(SELECT 1 FROM process WHERE id = h.subject_id)") == 0);
  for (const StoreTable& table : tables_of(TableKind::names)) {
    if (!table.age.empty()) continue;
    INFO(table.name);
    CHECK(
        count(fmt::format("SELECT COUNT(*) FROM {0} AS n WHERE NOT EXISTS (SELECT 1 FROM {1} AS u WHERE u.{2} = n.id)",
                          table.name, table.users, table.column)) == 0);
  }
  CHECK(count("SELECT COUNT(*) FROM process_named") == count("SELECT COUNT(*) FROM process"));
  for (const TierShape& shape : kRollupTiers) {
    for (const StoreTable& table : store_tables()) {
      if (!table.subject) continue;
      INFO("rollup_" << shape.name << " of " << table.name);
      CHECK(count(fmt::format("SELECT COUNT(*) FROM rollup_{} AS r WHERE subject = {} "
                              "AND NOT EXISTS (SELECT 1 FROM {} WHERE id = r.subject_id)",
                              shape.name, static_cast<int>(*table.subject), table.name)) == 0);
    }
  }
  // Peaks of short-lived processes are kept by their identities.
  recording.end();
  const auto reader = fixture.reader();
  std::map<std::int64_t, std::string> names;
  for (const StoredIdentity& identity : must(load_identities(*reader, kAll)))
    names[identity.id] = identity.unit + " " + identity.exe + " " + identity.command;
  std::size_t compared = 0;
  for (const HighWater& mark : must(reader->high_water(std::nullopt, kAllKinds))) {
    if (mark.subject != SubjectKind::identity || mark.metric != Metric::hwm) continue;
    ++compared;
    INFO(names.at(mark.subject_id));
    CHECK(mark.value_kib == peaks.at(names.at(mark.subject_id)));
  }
  CHECK(compared == peaks.size());
}

TEST_CASE("a cgroup is known as long as any tier has rows of it") {
  const StoreFixture fixture;
  Recording recording(fixture, kSmall, kDays);
  const auto go_on = [&](std::int64_t ms, const std::vector<CgroupSample>& cgroups) {
    for (std::int64_t i = 0; i < ms / kSmall.interval_ms; ++i) {
      Tick tick = recording.simulation().next();
      tick.cgroups = cgroups;
      must(recording.writer().write(tick));
      maintain(recording.writer());
    }
  };
  const auto known = [&] { return number(fixture.path(), "SELECT COUNT(*) FROM cgroup WHERE path = '/two-days'"); };
  go_on(2 * kDay, {{"/two-days", 1'000, {}, {}, {}, {}, {}}});
  go_on(10 * kDay, {});
  CHECK(known() == 1);
  go_on(5 * kDay, {});
  CHECK(known() == 0);
}

TEST_CASE("runs and boots are deleted after all their data") {
  const StoreFixture fixture;
  Recording recording(fixture, kSmall, kDays);
  for (int day = 0; day < 20; ++day) {
    recording.go_on(kDay);
    recording.end();
    if (day % 5 == 4) recording.simulation().reboot();
    recording.begin();
  }
  recording.go_on(2 * kHour);
  const auto runs = must(fixture.reader()->runs());
  CHECK(runs.size() >= 12);
  CHECK(runs.size() <= 15);
  CHECK(number(fixture.path(),
               "SELECT COUNT(*) FROM stretch AS s WHERE NOT EXISTS (SELECT 1 FROM run WHERE id = s.run_id)") == 0);
  CHECK(number(fixture.path(),
               "SELECT COUNT(*) FROM process AS p WHERE NOT EXISTS (SELECT 1 FROM boot WHERE id = p.boot_id)") == 0);
  const std::int64_t boots = number(fixture.path(), "SELECT COUNT(*) FROM boot");
  CHECK(boots >= 3);
  CHECK(boots <= 4);
}

TEST_CASE("at any point of retention every listed tick is readable, and after a kill there it continues") {
  const StoreFixture fixture;
  Retention all = kDays;
  all.raw_ms = 100 * kDay;
  Recording recording(fixture, kSmall, all);
  recording.go_on(5 * kDay + 30 * kMinute);
  recording.end();
  std::map<std::int64_t, std::string> digests;
  {
    const auto reader = fixture.reader();
    for (const StoredTick& tick : must(reader->ticks(kAll))) digests[tick.id] = digest(must(reader->snapshot(tick.id)));
  }
  // Less is kept from now on.
  const Retention less{.raw_ms = kDay, .five_minutes_ms = 2 * kDay, .hour_ms = 3 * kDay, .day_ms = 4 * kDay};
  std::vector<std::string> copies;
  {
    SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
    RetentionPass pass(database, 0);  // the smallest possible steps
    pass.set_limits(less);
    for (int piece = 0; pass.step().more; ++piece) {
      const auto reader = fixture.reader();
      const auto ticks = must(reader->ticks(kAll));
      REQUIRE_FALSE(ticks.empty());
      for (const std::size_t at : {std::size_t{0}, std::size_t{1}, ticks.size() / 2, ticks.size() - 1}) {
        const std::int64_t id = ticks[at].id;
        REQUIRE(digest(must(reader->snapshot(id))) == digests.at(id));
      }
      if (piece % 5 != 0) continue;
      copies.push_back(fixture.folder() + "/copy" + std::to_string(piece) + ".db");
      for (const char* suffix : {"", "-wal"}) fs::copy_file(fixture.path() + suffix, copies.back() + suffix);
    }
  }
  const auto wanted = rows_of(fixture.path());
  CHECK(wanted.at("tick") < 200);
  CHECK(copies.size() > 10);
  for (const std::string& copy : copies) {
    INFO(copy);
    SQLite::Database database(copy, SQLite::OPEN_READWRITE);
    RetentionPass pass(database);
    pass.set_limits(less);
    while (pass.step().more) {
    }
    CHECK(rows_of(copy) == wanted);
    CHECK(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
  }
}

TEST_CASE("setting the wall clock deletes only old data") {
  const StoreFixture fixture;
  Recording recording(fixture, kSmall, kDays);
  const std::int64_t ticks_kept = kDay / kSmall.interval_ms;
  recording.go_on(4 * kDay);
  const auto check = [&](const char* what) {
    INFO(what);
    const std::int64_t ticks = number(fixture.path(), "SELECT COUNT(*) FROM tick");
    CHECK(ticks >= ticks_kept);
    CHECK(ticks <= ticks_kept + (kHour + kLateMs) / kSmall.interval_ms);
    // Five-minute rows are kept for three days of the clock that is never set, and may end at any hour.
    CHECK(number(fixture.path(),
                 "SELECT SUM(buckets) FROM machine_5min AS m WHERE metric = "
                 "(SELECT id FROM metric WHERE column_name = 'mem_total_kib')") >= 3 * kDay / kSmall.interval_ms / 2);
  };
  check("before");
  Simulation& simulation = recording.simulation();
  simulation.step_wall(-kDay);
  recording.go_on(6 * kHour);
  check("a day back");
  simulation.step_wall(30 * kDay);
  recording.go_on(6 * kHour);
  check("a month on");
  simulation.step_wall(3650 * kDay);
  recording.go_on(6 * kHour);
  check("ten years on");
  simulation.step_wall(-3679 * kDay);
  recording.go_on(6 * kHour);
  check("back in order");
  for (int boot = 0; boot < 2; ++boot) {
    recording.end();
    simulation.reboot();
    simulation.step_wall(-simulation.now().wall_ms + 30'000);
    recording.begin();
    recording.go_on(6 * kHour);
    check("a boot in 1970");
  }
  // When they expire, the rows of the 1970s and of the skipped year are all deleted.
  simulation.step_wall(1'791'000'000'000 - simulation.now().wall_ms);
  recording.go_on(20 * kDay);
  check("long after");
  CHECK(number(fixture.path(), "SELECT MAX(day) - MIN(day) FROM rollup_day") <= 13);
  CHECK(number(fixture.path(), "SELECT COUNT(*) FROM high_water WHERE day_ms BETWEEN 0 AND 86400000") == 0);
}

TEST_CASE("the file stays under its cap at any load, and the least useful data goes first") {
  struct Load {
    SimulationOptions options;
    std::int64_t max_bytes;
    std::int64_t ticks;
  };
  const auto load =
      GENERATE(Load{{.processes = 400, .changing = 0.8, .births = 5}, 8 << 20, 900},
               Load{{.processes = 20, .changing = 0.2, .births = 0.2, .short_lived = 900, .interval_ms = 10 * kMinute},
                    8 << 20,
                    2000},
               Load{{.processes = 100, .changing = 1, .births = 90, .interval_ms = kMinute}, 8 << 20, 400});
  INFO(load.options.processes << " processes, " << load.max_bytes << " bytes");
  const StoreFixture fixture;
  Recording recording(fixture, load.options, {.max_bytes = load.max_bytes});
  std::int64_t most = 0;
  recording.go_on(load.ticks * load.options.interval_ms,
                  [&](const Tick&) { most = std::max(most, file_bytes(fixture.path())); });
  CHECK(most <= load.max_bytes);
  // The file stays under the cap without losing nearly everything.
  CHECK(most >= load.max_bytes / 2);
  CHECK(number(fixture.path(), "SELECT COUNT(*) FROM tick") < load.ticks);
  CHECK(number(fixture.path(), "SELECT COUNT(*) FROM rollup_day") > 0);
  CHECK(number(fixture.path(), "SELECT COUNT(*) FROM high_water WHERE day_ms = -1 AND subject = 0") >= 2);
  recording.end();
  const auto reader = fixture.reader();
  const std::vector<StoredTick> ticks = must(reader->ticks(kAll));
  for (std::size_t at = 0; at < ticks.size(); at += all_trials() ? 1U : 10U) must(reader->snapshot(ticks[at].id));
}

TEST_CASE("at the cap a user's excess processes are deleted before anyone's ticks") {
  constexpr std::int64_t kCap = 8 << 20;
  constexpr int kTicks = 300;
  constexpr std::uint32_t kAttacker = 4242;
  const StoreFixture fixture;
  const auto writer = fixture.writer();
  Simulation simulation({.processes = 220, .changing = 0.1, .births = 200});
  RunInfo run = run_info(simulation.boot(), simulation.now());
  run.retention.max_bytes = kCap;
  must(writer->begin_run(run));
  std::int64_t most = 0;
  for (int i = 0; i < kTicks; ++i) {
    Tick tick = simulation.next();
    for (std::size_t at = 0; at < tick.born.size(); ++at) {
      const bool is_other = i == 0 ? at < 20 : at == 0;
      tick.born[at].uid = is_other ? 1000 : kAttacker;
      tick.born[at].user = is_other ? "app" : "attacker";
    }
    must(writer->write(tick));
    maintain(*writer);
    most = std::max(most, file_bytes(fixture.path()));
  }
  CHECK(most <= kCap);
  const auto count = [&](const std::string& what) { return number(fixture.path(), "SELECT COUNT(*) FROM " + what); };
  CHECK(count("tick") == kTicks);
  const std::string of = "process AS p JOIN user AS u ON u.id = p.user_id WHERE u.uid = ";
  CHECK(count(of + "4242") < kTicks * 200 / 2);
  CHECK(count(of + "1000") >= kTicks);
  CHECK(count("process_sample WHERE process_id NOT IN (SELECT id FROM process)") == 0);
  CHECK(count("mark WHERE subject = 2 AND subject_id NOT IN (SELECT id FROM process)") == 0);
  CHECK(count("event WHERE kind = 'lost' AND text LIKE '%user attacker (uid 4242)%'") > 0);
  must(writer->end_run(simulation.now(), "stopped"));
  const auto reader = fixture.reader();
  for (const StoredTick& tick : must(reader->ticks(kAll))) {
    if (tick.id % 20 == 1) must(reader->snapshot(tick.id));
  }
}

TEST_CASE("a cap that is lowered shrinks the file") {
  const StoreFixture fixture;
  Recording recording(fixture, kSmall, {.max_bytes = 0});
  recording.go_on(15 * kDay);
  recording.end();
  const std::int64_t before = file_bytes(fixture.path());
  REQUIRE(before > 3 << 20);
  recording.keep({.max_bytes = 2 << 20});
  recording.begin();
  recording.go_on(2 * kHour);
  CHECK(file_bytes(fixture.path()) <= 2 << 20);
  const std::int64_t page_bytes =
      number(fixture.path(), "PRAGMA page_count") * number(fixture.path(), "PRAGMA page_size");
  CHECK(page_bytes <= (2 << 20) - max_wal_bytes({.max_bytes = 2 << 20}));
  CHECK(number(fixture.path(), "SELECT max_bytes FROM retention") == 2 << 20);
}

TEST_CASE("pages that stay free are returned to the file system") {
  const StoreFixture fixture;
  Recording recording(fixture, kSmall, {.max_bytes = 0});
  recording.go_on(15 * kDay);
  recording.end();
  const std::int64_t before = number(fixture.path(), "PRAGMA page_count");
  recording.keep({.raw_ms = kHour, .five_minutes_ms = kDay, .max_bytes = 0});
  recording.begin();
  recording.go_on(2 * kHour);
  CHECK(number(fixture.path(), "PRAGMA page_count") < before / 2);
  CHECK(number(fixture.path(), "PRAGMA freelist_count") <= 256);
}

}  // namespace memoir::test
