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

TEST_CASE("tables have the columns that the list says they age by and are named by") {
  const StoreFixture fixture;
  fixture.writer();
  for (const StoreTable& table : store_tables()) {
    INFO(table.name);
    const auto columns = columns_of(fixture.path(), table.name);
    if (!table.age.empty()) CHECK(std::ranges::count(columns, table.age) == 1);
    // Retention deletes them in the order of their keys.
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

TEST_CASE("each tier has its tables and its columns of retention") {
  const StoreFixture fixture;
  fixture.writer();
  const auto tables = tables_of(TableKind::rollups);
  CHECK(tables.size() == 3 * kRollupTiers.size());
  const auto retention = columns_of(fixture.path(), "retention");
  for (const TierShape& shape : kRollupTiers) {
    INFO(shape.name);
    CHECK(shape_of(shape.tier).name == shape.name);
    for (const char* holds : {"rollup", "swap", "machine"}) {
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
