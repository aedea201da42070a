#include "store/rows/batch_delete.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <random>
#include <set>

#include "support/catch.h"

namespace memoir::test {

TEST_CASE("a batch deletes the first rows of a range, and nothing else") {
  std::mt19937 engine(5);
  const auto number = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine);
  };
  for (int round = 0; round < 20; ++round) {
    SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("CREATE TABLE t (a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID");
    std::set<std::pair<std::int64_t, std::int64_t>> rows;
    for (int i = 0; i < 1500; ++i) rows.emplace(number(-5, 15), number(0, 999));
    Statement insert(database, "INSERT INTO t (a, b) VALUES (?, ?)");
    for (const auto& [a, b] : rows) insert.run(a, b);
    const std::int64_t from = number(-7, 14);
    const std::int64_t to = from + number(0, 10);
    BatchDelete batches(database, "t");
    while (const std::int64_t deleted = batches.run(from, to)) {
      REQUIRE(deleted <= 250);
      for (std::int64_t i = 0; i < deleted; ++i) {
        const auto first = rows.lower_bound({from, 0});
        REQUIRE(first->first <= to);
        rows.erase(first);
      }
      Statement left(database, "SELECT a, b FROM t ORDER BY a, b");
      for (const auto& [a, b] : rows) {
        REQUIRE(left.step());
        REQUIRE((left.integer(0) == a && left.integer(1) == b));
      }
      REQUIRE_FALSE(left.step());
    }
    REQUIRE((rows.lower_bound({from, 0}) == rows.end() || rows.lower_bound({from, 0})->first > to));
  }
}

TEST_CASE("batches find their rows by the key") {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("CREATE TABLE t (a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID");
  SQLite::Statement plan(database, "EXPLAIN QUERY PLAN DELETE FROM t WHERE a >= 1 AND (a, b) < (5, 6)");
  REQUIRE(plan.executeStep());
  CHECK_THAT(plan.getColumn(3).getString(), ContainsSubstring("SEARCH t USING PRIMARY KEY"));
}

}  // namespace memoir::test
