// The schema of a crafted file is never executed.

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "store/schema/schema_check.h"
#include "store/sqlite/database.h"
#include "store/sqlite/time_limit.h"
#include "store_fixture.h"
#include "support/slurp.h"

namespace memoir::test {
namespace {

constexpr const char* kEndless =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS boot_id FROM n";

struct Crafted {
  const char* object;  // the name in the error
  std::string sql;
};

std::vector<Crafted> crafted() {
  return {
      {"view 'run_named'", fmt::format("DROP VIEW run_named; CREATE VIEW run_named AS {}", kEndless)},
      {"view 'run_named'", "DROP VIEW run_named; CREATE VIEW run_named AS SELECT printf('%.900000000c', 'x') AS id"},
      {"view 'latest'", "DROP VIEW latest"},
      {"view 'more'", "CREATE VIEW more AS SELECT 1"},
      {"trigger 'at_end'", "CREATE TRIGGER at_end AFTER INSERT ON tick BEGIN DELETE FROM process; END"},
      {"index 'costly'", "CREATE INDEX costly ON tick (printf('%.*c', 1000, id))"},
      {"table 'more'", "CREATE TABLE more (a)"},
      {"table 'event'", "ALTER TABLE event ADD COLUMN more INTEGER AS (id + 1)"},
      {"table 'shapes'",
       "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES "
       "('table', 'shapes', 'shapes', 0, 'CREATE VIRTUAL TABLE shapes USING fts3(a)')"},
      {"table 'sqlite_stat1'",
       "ANALYZE; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat, "
       "more AS (1))' WHERE name = 'sqlite_stat1'"},
  };
}

void check_refused(const std::string& path, const std::string& object) {
  CAPTURE(object);
  const std::string before = slurp(path);
  const auto reader = Reader::open(path);
  REQUIRE(!reader.ok());
  CHECK(reader.error().message.find(path) == 0);
  CHECK(reader.error().message.find("the " + object) != std::string::npos);
  const auto writer = Writer::open(path, Durability::normal);
  REQUIRE(!writer.ok());
  CHECK(writer.error().message.find("the " + object) != std::string::npos);
  CHECK(slurp(path) == before);
}

TEST_CASE("readers and writers refuse a foreign schema and name the object") {
  for (const Crafted& attack : crafted()) {
    const StoreFixture fixture;
    fixture.writer();
    SQLite::Database(fixture.path(), SQLite::OPEN_READWRITE).exec(attack.sql);
    check_refused(fixture.path(), attack.object);
  }
}

// A schema row that claims to be a view, but is something else to SQLite.
std::string disguised(const char* name, const std::string& sql) {
  return fmt::format(
      "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES "
      "('view', '{0}', '{0}', 0, '{1}')",
      name, sql);
}

TEST_CASE("a schema row that claims to be a view, but is not Memoir's, is refused") {
  for (const std::string& sql : {disguised("at_end", "CREATE TRIGGER at_end AFTER INSERT ON tick BEGIN SELECT 1; END"),
                                 disguised("shapes", "CREATE VIRTUAL TABLE shapes USING fts3(a)"),
                                 disguised("other", "CREATE VIEW run_names AS SELECT 1")}) {
    CAPTURE(sql);
    const StoreFixture fixture;
    fixture.writer();
    SQLite::Database(fixture.path(), SQLite::OPEN_READWRITE).exec(sql);
    CHECK(!Reader::open(fixture.path()).ok());
    CHECK(!Writer::open(fixture.path(), Durability::normal).ok());
  }
}

TEST_CASE("tables of ANALYZE are accepted") {
  const StoreFixture fixture;
  fixture.writer();
  SQLite::Database(fixture.path(), SQLite::OPEN_READWRITE).exec("ANALYZE");
  CHECK(must(fixture.reader()->info()).ticks == 0);
  fixture.writer();
}

TEST_CASE("a reader's connection cannot create a long text or change its schema") {
  const StoreFixture fixture;
  fixture.writer();
  const auto database = must(open_for_reading(fixture.path()));
  // A text of 900 MB is NULL instead.
  CHECK(database->execAndGet("SELECT length(printf('%.*c', 900000000, 'x'))").isNull());
  CHECK_THROWS_AS(database->execAndGet("SELECT zeroblob(900000000)"), SQLite::Exception);
  SQLite::Database written(fixture.path(), SQLite::OPEN_READWRITE);
  harden(written);
  CHECK_THROWS_AS(written.exec("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema"), SQLite::Exception);
}

TEST_CASE("a query that takes too long is stopped") {
  const StoreFixture fixture;
  fixture.writer();
  const auto database = must(open_for_reading(fixture.path()));
  const AnswerLimit limit(database->getHandle(), std::chrono::milliseconds(50));
  CHECK_THROWS_AS(database->execAndGet(fmt::format("SELECT COUNT(*) FROM ({})", kEndless)), SQLite::Exception);
}

}  // namespace
}  // namespace memoir::test
