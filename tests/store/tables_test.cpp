#include "store/tables.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "store_fixture.h"

namespace memoir::test {
namespace {

std::vector<std::string> texts(const std::string& path, const std::string& sql) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  SQLite::Statement rows(database, sql);
  std::vector<std::string> texts;
  while (rows.executeStep()) texts.push_back(rows.getColumn(0).getString());
  return texts;
}

std::vector<std::string> columns_of(const std::string& path, std::string_view table) {
  return texts(path, fmt::format("SELECT name FROM pragma_table_info('{}') ORDER BY cid", table));
}

}  // namespace

TEST_CASE("every table of the schema is in the list once, and every listed one is in the schema") {
  const StoreFixture fixture;
  fixture.writer();
  std::vector<std::string> listed;
  for (const StoreTable& table : store_tables()) listed.emplace_back(table.name);
  std::ranges::sort(listed);
  CHECK(listed == texts(fixture.path(),
                        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
                        "ESCAPE '\\' ORDER BY name"));
}

TEST_CASE("tables have the age and name columns of the list") {
  const StoreFixture fixture;
  fixture.writer();
  for (const StoreTable& table : store_tables()) {
    INFO(table.name);
    const auto columns = columns_of(fixture.path(), table.name);
    if (!table.age.empty()) CHECK(std::ranges::count(columns, table.age) == 1);
    // Retention deletes rows in key order.
    if (table.kind <= TableKind::marks) {
      const auto key = texts(
          fixture.path(), fmt::format("SELECT name FROM pragma_table_info('{}') WHERE pk > 0 ORDER BY pk", table.name));
      REQUIRE_FALSE(key.empty());
      CHECK(key.front() == table.age);
    }
    if (table.kind == TableKind::names)
      CHECK(std::ranges::count(columns_of(fixture.path(), table.users), table.column) == 1);
  }
}

TEST_CASE("the list knows which rows of a tick belong to a process") {
  const StoreFixture fixture;
  fixture.writer();
  for (const StoreTable& table : store_tables()) {
    INFO(table.name);
    const auto columns = columns_of(fixture.path(), table.name);
    const bool of_process = std::ranges::count(columns, "process_id") > 0;
    if (table.kind == TableKind::samples && of_process) CHECK(table.process == "process_id");
    if (!table.process.empty())
      CHECK(
          texts(fixture.path(), fmt::format("SELECT 1 FROM {} WHERE tick_id = 0 AND {} = 0", table.name, table.process))
              .empty());
  }
}

TEST_CASE("each tier has its tables and its columns of retention") {
  const StoreFixture fixture;
  fixture.writer();
  const auto tables = tables_of(TableKind::rollups);
  CHECK(tables.size() == 4 * kRollupTiers.size());
  const auto retention = columns_of(fixture.path(), "retention");
  for (const TierShape& shape : kRollupTiers) {
    INFO(shape.name);
    CHECK(shape_of(shape.tier).name == shape.name);
    for (const char* holds : {"rollup", "swap", "machine", "activity"}) {
      const auto table = std::ranges::find(tables, fmt::format("{}_{}", holds, shape.name), &StoreTable::name);
      REQUIRE(table != tables.end());
      CHECK(table->tier == shape.tier);
      CHECK(table->age == shape.block);
    }
    for (const char* column : {"ms", "cut", "from_ms"})
      CHECK(std::ranges::count(retention, fmt::format("{}_{}", shape.retained, column)) == 1);
  }
}

}  // namespace memoir::test
