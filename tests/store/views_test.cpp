// The views for sqlite3 give the same values as the reader.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <set>
#include <sqlite3.h>
#include <string>
#include <utility>

#include "random_history.h"
#include "store/tables.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

std::optional<std::int64_t> number(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional<std::int64_t>(column.getInt64());
}

void compare_processes(SQLite::Database& database, const Snapshot& snapshot) {
  SQLite::Statement rows(database, "SELECT * FROM process_at WHERE tick_id = ? ORDER BY pid, start_ticks, exec_count");
  rows.bind(1, snapshot.tick.id);
  std::size_t count = 0;
  while (rows.executeStep()) {
    REQUIRE(count < snapshot.processes.size());
    const ProcessState& state = snapshot.processes[count++];
    REQUIRE(rows.getColumn("wall_ms").getInt64() == snapshot.tick.begin.wall_ms);
    REQUIRE(rows.getColumn("pid").getInt() == state.sample.key.pid);
    REQUIRE(rows.getColumn("user").getString() == state.process.info.user);
    REQUIRE(rows.getColumn("command").getString() == state.process.info.command);
    REQUIRE(rows.getColumn("category").getString() == state.process.info.category);
    REQUIRE(rows.getColumn("cwd").getString() == state.process.info.cwd);
    REQUIRE(rows.getColumn("unit").getString() == state.process.unit);
    REQUIRE(rows.getColumn("identity").getString() == state.process.identity);
    REQUIRE(rows.getColumn("source").getString() == to_string(state.sample.source));
    const auto read = state.sample.read_boot_ms;
    REQUIRE(number(rows.getColumn("read_ms")) ==
            (read ? std::optional(snapshot.tick.begin.wall_ms - snapshot.tick.begin.boot_ms + *read) : std::nullopt));
    REQUIRE(number(rows.getColumn("uss_kib")) == uss_kib(state.sample.memory));
    for (std::size_t i = 0; i < ProcessMemory::kCount; ++i) {
      INFO(kProcessFields[i].column);
      REQUIRE(number(rows.getColumn(kProcessFields[i].column)) ==
              state.sample.memory.get(static_cast<ProcessField>(i)));
    }
  }
  REQUIRE(count == snapshot.processes.size());
}

void compare_rest(SQLite::Database& database, const Snapshot& snapshot) {
  SQLite::Statement machine(database, "SELECT * FROM machine_at WHERE tick_id = ?");
  machine.bind(1, snapshot.tick.id);
  REQUIRE(machine.executeStep());
  for (std::size_t i = 0; i < MachineMemory::kCount; ++i) {
    std::string name = kMachineFields[i].column;
    INFO(name);
    const auto value = snapshot.machine.memory.get(static_cast<MachineField>(i));
    if (!name.ends_with("_bp")) {
      REQUIRE(number(machine.getColumn(name.c_str())) == value);
      continue;
    }
    name.replace(name.size() - 2, 2, "percent");
    const SQLite::Column percent = machine.getColumn(name.c_str());
    REQUIRE(percent.isNull() == !value.has_value());
    if (value) REQUIRE(percent.getDouble() == static_cast<double>(*value) / 100);
  }
  SQLite::Statement categories(database,
                               "SELECT category, processes, pss_kib FROM category_at WHERE tick_id = ? ORDER BY 1");
  categories.bind(1, snapshot.tick.id);
  for (const CategorySample& category : snapshot.categories) {
    REQUIRE(categories.executeStep());
    REQUIRE(categories.getColumn(0).getString() == category.category);
    REQUIRE(categories.getColumn(1).getInt64() == category.processes);
    REQUIRE(categories.getColumn(2).getInt64() == category.pss_kib);
  }
  REQUIRE(!categories.executeStep());
  SQLite::Statement cgroups(database, "SELECT * FROM cgroup_at WHERE tick_id = ? ORDER BY cgroup");
  cgroups.bind(1, snapshot.tick.id);
  for (const CgroupSample& cgroup : snapshot.cgroups) {
    REQUIRE(cgroups.executeStep());
    REQUIRE(cgroups.getColumn("cgroup").getString() == cgroup.path);
    REQUIRE(number(cgroups.getColumn("current_kib")) == cgroup.current_kib);
    REQUIRE(number(cgroups.getColumn("file_kib")) == cgroup.file_kib);
    REQUIRE(number(cgroups.getColumn("swap_kib")) == cgroup.swap_kib);
    REQUIRE(number(cgroups.getColumn("max_kib")) == cgroup.max_kib);
    REQUIRE(number(cgroups.getColumn("high_kib")) == cgroup.high_kib);
    REQUIRE(number(cgroups.getColumn("swap_max_kib")) == cgroup.swap_max_kib);
  }
  REQUIRE(!cgroups.executeStep());
}

// Columns in milliseconds that are durations instead of times.
const std::set<std::string> kDurations{"covered_ms",    "interval_ms", "lived_ms",
                                       "mean_lived_ms", "read_age_ms", "width_ms"};

// Returns the views that have a time without its correct text, and the number of correct texts.
std::pair<std::string, std::int64_t> check_times(SQLite::Database& database) {
  std::string wrong;
  std::int64_t right = 0;
  SQLite::Statement columns(database,
                            "SELECT v.name, c.name FROM sqlite_schema AS v, pragma_table_info(v.name) AS c "
                            "WHERE v.type = 'view' AND c.name LIKE '%\\_ms' ESCAPE '\\'");
  while (columns.executeStep()) {
    const std::string view = columns.getColumn(0);
    const std::string column = columns.getColumn(1);
    if (kDurations.contains(column)) continue;
    const std::string text = column.substr(0, column.size() - 2) + "utc";
    const std::string same = fmt::format(
        "{1} IS strftime('%Y-%m-%dT%H:%M:%S', {0} / 1000, 'unixepoch') || printf('.%03dZ', {0} % 1000)", column, text);
    const bool all_time = view == "high_water" && column == "day_ms";
    const std::string sql = fmt::format("SELECT COUNT({2}), COUNT(*) FILTER (WHERE NOT ({1})) FROM {0} {3}", view, same,
                                        text, all_time ? "WHERE day_ms >= 0" : "");
    SQLite::Statement counts(database, sql);
    counts.executeStep();
    right += counts.getColumn(0).getInt64();
    if (counts.getColumn(1).getInt64() > 0) wrong += fmt::format("{}.{} ", view, text);
  }
  return {wrong, right};
}

TEST_CASE("views show each time also as text in UTC") {
  const StoreFixture fixture;
  RandomHistory history(5);
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(history.boot(), history.now())));
  for (int i = 0; i < 30; ++i) must(writer->write(history.next()));
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  const auto [wrong, right] = check_times(database);
  CHECK(wrong == "");
  CHECK(right > 1000);
}

TEST_CASE("views equal snapshots") {
  const StoreFixture fixture;
  RandomHistory history(5);
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(history.boot(), history.now())));
  for (int i = 0; i < 60; ++i) must(writer->write(history.next()));
  const auto reader = fixture.reader();
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  for (const StoredTick& tick : must(reader->ticks({0, 4'000'000'000'000}))) {
    const Snapshot snapshot = must(reader->snapshot(tick.id));
    compare_processes(database, snapshot);
    compare_rest(database, snapshot);
  }
  const std::int64_t last = must(reader->info()).ticks;
  REQUIRE(database.execAndGet("SELECT COUNT(*) FROM latest").getInt64() ==
          static_cast<std::int64_t>(must(reader->snapshot(last)).processes.size()));
}

TEST_CASE("runs and high-water marks have views with names") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 5, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  for (int i = 0; i < 3; ++i) must(writer->write(simulation.next()));
  must(writer->end_run(simulation.now(), "once"));
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  REQUIRE(database.execAndGet("SELECT ticks FROM run_named").getInt() == 3);
  REQUIRE(database.execAndGet("SELECT host FROM run_named").getString() == "simulated");
  auto marks = must(fixture.reader()->high_water(std::nullopt, kAllKinds));
  REQUIRE(database.execAndGet("SELECT COUNT(*) FROM high_water_named WHERE day = 'all time'").getInt64() ==
          static_cast<std::int64_t>(marks.size()));
  REQUIRE(database.execAndGet("SELECT COUNT(*) FROM high_water_named WHERE day <> 'all time' AND subject = 'process'")
              .getInt64() > 0);
  REQUIRE(database.execAndGet("SELECT COUNT(*) FROM high_water_named WHERE name IS NULL").getInt() == 0);
}

// Returns the number of steps that SQLite's virtual machine needs for a query.
int steps_of(SQLite::Database& database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(database.getHandle(), sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
  while (sqlite3_step(statement) == SQLITE_ROW) continue;
  const int steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
  sqlite3_finalize(statement);
  return steps;
}

TEST_CASE("exited processes cost process_at little more than their rows") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 20, .births = 0, .short_lived = 7200});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  for (int i = 0; i < 60; ++i) must(writer->write(simulation.next()));
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  const auto number_of = [&](const std::string& sql) { return database.execAndGet(sql).getInt(); };
  REQUIRE(number_of("SELECT COUNT(*) FROM process WHERE exited_tick_id IS NOT NULL") > 500);
  const int rows = number_of(
      "SELECT SUM((SELECT COUNT(*) FROM process_sample WHERE tick_id BETWEEN t.keyframe_id AND t.id) + "
      "(SELECT COUNT(*) FROM process_state WHERE tick_id BETWEEN t.keyframe_id AND t.id)) FROM tick AS t");
  const int steps =
      steps_of(database, "SELECT COUNT(*) FROM process_at WHERE tick_id BETWEEN 1 AND 60 AND cgroup = ''");
  INFO(steps << " steps for " << rows << " rows");
  CHECK(steps < 35 * rows);
}

// The cost that the documentation promises: a view of one tick reads the rows since its keyframe, not the history.
TEST_CASE("a view of one tick does not scan the whole history") {
  const StoreFixture fixture;
  fixture.writer();
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  std::vector<std::string> questions{"SELECT * FROM latest"};
  for (const char* view : {"process_at", "category_at", "cgroup_at", "service_at", "machine_at"}) {
    for (const char* ticks : {"tick_id = 7", "tick_id = (SELECT MAX(id) FROM tick)", "tick_id IN (5, 7)",
                              "tick_id BETWEEN 5 AND 64", "wall_ms BETWEEN 5 AND 64"})
      questions.push_back(std::string("SELECT * FROM ") + view + " WHERE " + ticks);
  }
  for (const std::string& sql : questions) {
    SQLite::Statement plan(database, "EXPLAIN QUERY PLAN " + sql);
    while (plan.executeStep()) {
      const std::string step = plan.getColumn(3).getString();
      INFO(sql << ": " << step);
      for (const StoreTable& table : tables_of(TableKind::samples))
        REQUIRE(step.find("SCAN " + std::string(table.name)) == std::string::npos);
      // Two of the views become part of the query; s is the first alias of process_detail.
      for (const char* whole : {"SCAN s", "MATERIALIZE process_detail", "MATERIALIZE category_sample"})
        REQUIRE(step.find(whole) == std::string::npos);
      // t is the alias of tick; latest reads a single row of it.
      if (sql.find("latest") == std::string::npos) REQUIRE(step.find("SCAN t") == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace memoir::test
