// Migrations of the schema, with an invented second version.

#include <SQLiteCpp/SQLiteCpp.h>
#include <array>
#include <sqlite3.h>

#include "answers.h"
#include "store/schema/migrations.h"
#include "store/schema/sql.h"
#include "store/sqlite/database.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

constexpr std::array<const char*, 2> kNext{
    sql::migrations[0],
    "ALTER TABLE command ADD COLUMN length INTEGER; UPDATE command SET length = LENGTH(line);"
    "CREATE TABLE second AS SELECT id, wall_ms FROM tick; DROP INDEX tick_wall"};

// Records a file of version 1 with a few ticks.
void record(const StoreFixture& fixture) {
  Simulation simulation({.processes = 20});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  for (int i = 0; i < 5; ++i) must(writer->write(simulation.next()));
  must(writer->end_run(simulation.now(), "stopped"));
}

std::string objects_of(SQLite::Database& database) {
  std::string objects;
  for (const std::string& row : rows_of(database, "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"))
    objects += row + "\n";
  return objects;
}

int count_down(void* left) {
  return --*static_cast<int*>(left) == 0 ? 1 : 0;
}

TEST_CASE("migrations start at the file's version, replace the views and set the version") {
  const StoreFixture fixture;
  record(fixture);
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
  const auto views = rows_of(database, "SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY name");
  database.exec("DROP VIEW latest; CREATE VIEW latest AS SELECT 1; CREATE VIEW \"own \"\"view\" AS SELECT 2");
  migrate(database, kSchemaVersion, kNext);
  CHECK(schema_version(database) == 2);
  CHECK(database.execAndGet("PRAGMA application_id").getInt() == kApplicationId);
  CHECK(database.execAndGet("SELECT COUNT(*) FROM command WHERE length = LENGTH(line)").getInt() ==
        database.execAndGet("SELECT COUNT(*) FROM command").getInt());
  CHECK(database.execAndGet("SELECT COUNT(*) FROM second").getInt() == 5);
  CHECK(rows_of(database, "SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY name") == views);
  const std::string objects = objects_of(database);
  migrate(database, 2, kNext);
  CHECK(objects_of(database) == objects);
  CHECK(!Reader::open(fixture.path()).ok());
}

TEST_CASE("all migrations together give an empty file the newest version") {
  const StoreFixture fixture;
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, 0, kNext);
  CHECK(schema_version(database) == 2);
  CHECK(database.tableExists("second"));
}

TEST_CASE("a migration that fails or is interrupted at any moment leaves the file unchanged") {
  const StoreFixture fixture;
  record(fixture);
  const std::string answers = all_answers(*fixture.reader());
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
  const std::string objects = objects_of(database);
  const auto check_unchanged = [&] {
    CHECK(schema_version(database) == kSchemaVersion);
    CHECK(objects_of(database) == objects);
    CHECK(difference(all_answers(*fixture.reader()), answers) == "");
  };
  const std::array<const char*, 2> failing{sql::migrations[0], "DROP TABLE command; SELECT nothing"};
  CHECK_THROWS_AS(migrate(database, 1, failing), SQLite::Exception);
  check_unchanged();
  int interrupted = 0;
  for (int moment = 1;; moment += 1 + moment / 2) {
    CAPTURE(moment);
    int left = moment;
    sqlite3_progress_handler(database.getHandle(), 100, count_down, &left);
    bool finished = true;
    try {
      migrate(database, 1, kNext);
    } catch (const SQLite::Exception&) {
      finished = false;
    }
    sqlite3_progress_handler(database.getHandle(), 0, nullptr, nullptr);
    if (finished) break;
    ++interrupted;
    check_unchanged();
  }
  CHECK(interrupted >= 5);
  CHECK(schema_version(database) == 2);
}

}  // namespace
}  // namespace memoir::test
