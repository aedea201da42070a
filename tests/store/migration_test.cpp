// Older schemas: read as they are, and upgraded whole or not at all.

#include <SQLiteCpp/SQLiteCpp.h>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "released.h"
#include "store/schema/migrations.h"
#include "store/sqlite/database.h"
#include "support/slurp.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

int kill_after = 0;  // the child's; in hundreds of steps of SQLite's machine

int count_down(void*) {
  if (--kill_after == 0) raise(SIGKILL);
  return 0;
}

int watch_connection(sqlite3* database, char**, const sqlite3_api_routines*) {
  sqlite3_progress_handler(database, 100, count_down, nullptr);
  return SQLITE_OK;
}

int let_it_not_grow(sqlite3* database, char**, const sqlite3_api_routines*) {
  return sqlite3_exec(database, "PRAGMA max_page_count = 1", nullptr, nullptr, nullptr);  // it stays at its size
}

// As SQLite wants it: an extension that every connection loads as it is opened.
using Extension = int (*)(sqlite3*, char**, const sqlite3_api_routines*);
void at_each_opening(Extension extension) {
  sqlite3_reset_auto_extension();
  if (extension != nullptr) sqlite3_auto_extension(reinterpret_cast<void (*)()>(extension));
}

// Whether an upgrade that is killed at its `moment` came to its end before.
bool upgrade_and_die(const std::string& path, int moment) {
  const pid_t child = fork();
  if (child == 0) {
    kill_after = moment;
    at_each_opening(watch_connection);
    const auto opened = open_for_writing(path, Durability::normal);
    _exit(opened.ok() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return WIFEXITED(status);
}

using Rows = std::vector<std::string>;

std::string columns_of(SQLite::Database& database, const std::string& name) {
  std::vector<std::string> columns;
  SQLite::Statement statement(database, "SELECT name FROM pragma_table_info(?) ORDER BY name");
  statement.bind(1, name);
  while (statement.executeStep()) columns.push_back(statement.getColumn(0).getString());
  return fmt::format("{}", fmt::join(columns, ", "));
}

std::vector<std::string> names_in(SQLite::Database& database) {
  std::vector<std::string> names;
  SQLite::Statement statement(database,
                              "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE "
                              "'sqlite_%' ORDER BY name");
  while (statement.executeStep()) names.push_back(statement.getColumn(0).getString());
  return names;
}

// Since schema 11 what is swapped out stands beside the rollups, where there is something to tell.
std::string today_of(const std::string& name) {
  if (!name.starts_with("rollup_") || name == "rollup_mark") return name;
  std::string swap;
  for (const auto& [metric, known_by] : {std::pair("swap", "anon"), std::pair("swap_pss", "uss")}) {
    for (const char* part : {"kib", "low", "mean", "high"})
      swap += fmt::format(", IIF(w.buckets IS NULL, {1}_kib * 0, {0}_{2}) AS {0}_{2}", metric, known_by, part);
  }
  return fmt::format("(SELECT r.*{} FROM {} AS r LEFT JOIN swap_{} AS w USING ({}, subject, subject_id, slot))", swap,
                     name, name.substr(name.find('_') + 1), name == "rollup_5min" ? "hour" : "day");
}

std::string answers_of(const StoreFixture& fixture) {
  return all_answers(*fixture.reader());
}

TEST_CASE("there is a database of each schema before today's") {
  REQUIRE(released_databases().size() == static_cast<std::size_t>(kSchemaVersion - 1));
}

TEST_CASE("an older schema has every table and view of today's, with its columns") {
  const StoreFixture today;
  today.writer();
  SQLite::Database current(today.path());
  for (const std::string& released : released_databases()) {
    CAPTURE(released);
    const StoreFixture fixture;
    copy_released(released, fixture);
    const auto older = must(open_for_reading(fixture.path()));
    for (const std::string& name : names_in(current)) {
      CAPTURE(name);
      CHECK(columns_of(*older, name) == columns_of(current, name));
      if (current.execAndGet("SELECT type FROM sqlite_schema WHERE name = '" + name + "'").getString() == "view") {
        CHECK_NOTHROW(rows_of(*older, "SELECT * FROM " + name + " LIMIT 1"));
      }
    }
  }
}

TEST_CASE("an older schema answers as it does once it is upgraded, and stays as it is") {
  for (const std::string& released : released_databases()) {
    CAPTURE(released);
    const StoreFixture fixture;
    copy_released(released, fixture);
    const std::string bytes = slurp(fixture.path());
    REQUIRE(must(fixture.reader()->info()).schema < kSchemaVersion);
    const std::string before = answers_of(fixture);
    REQUIRE(before.find("process 1 ") != std::string::npos);
    REQUIRE(slurp(fixture.path()) == bytes);
    fixture.writer();
    REQUIRE(must(fixture.reader()->info()).schema == kSchemaVersion);
    REQUIRE(difference(answers_of(fixture), before) == "");
    REQUIRE(commands_without_digest(fixture.path()) == 0);
  }
}

TEST_CASE("an upgrade keeps each row of each table, and the answers of the views that were released") {
  for (const std::string& released : released_databases()) {
    CAPTURE(released);
    const StoreFixture fixture;
    copy_released(released, fixture);
    const StoreFixture kept;
    copy_released(released, kept);
    SQLite::Database older(kept.path(), SQLite::OPEN_READONLY);
    must(open_for_writing(fixture.path(), Durability::normal)).reset();
    SQLite::Database upgraded(fixture.path(), SQLite::OPEN_READONLY);
    for (const std::string& name : names_in(older)) {
      const std::string columns = columns_of(older, name);
      const auto sql = [&](const std::string& from) {
        return fmt::format("SELECT {} FROM {} ORDER BY {}", columns, from, columns);
      };
      CAPTURE(sql(name));
      Rows before = rows_of(older, sql(name));
      Rows after = rows_of(upgraded, sql(today_of(name)));
      // Since schema 4 with the marks of all time of processes of one day; since 6 there are more metrics.
      if (name == "high_water_named" || name == "high_water_metric") {
        std::ranges::sort(before);
        std::ranges::sort(after);
        CHECK(std::ranges::includes(after, before));
      } else {
        CHECK(after == before);
      }
    }
  }
}

TEST_CASE("an upgrade that is killed at any moment begins anew, and is whole at last") {
  for (const std::string& released : released_databases()) {
    CAPTURE(released);
    const StoreFixture fixture;
    copy_released(released, fixture);
    const std::string before = answers_of(fixture);
    const std::string tick = sample_words(must(fixture.reader()->snapshot(150)));
    int killed = 0;
    for (int moment = 1; !upgrade_and_die(fixture.path(), moment); moment += 1 + moment / 2) {
      ++killed;
      CAPTURE(moment);
      REQUIRE(sample_words(must(fixture.reader()->snapshot(150))) == tick);
    }
    REQUIRE(killed >= 5);
    REQUIRE(must(fixture.reader()->info()).schema == kSchemaVersion);
    REQUIRE(difference(answers_of(fixture), before) == "");
    SQLite::Database upgraded(fixture.path(), SQLite::OPEN_READONLY);
    REQUIRE(upgraded.execAndGet("PRAGMA integrity_check").getString() == "ok");
  }
}

TEST_CASE("an upgrade for which there is no room leaves the file as it was") {
  int refusals = 0;
  for (const std::string& released : released_databases()) {
    CAPTURE(released);
    const StoreFixture fixture;
    copy_released(released, fixture);
    const std::string before = answers_of(fixture);
    at_each_opening(let_it_not_grow);
    const auto refused = open_for_writing(fixture.path(), Durability::normal);
    at_each_opening(nullptr);
    if (refused.ok()) {  // it needs none
      REQUIRE(difference(answers_of(fixture), before) == "");
      continue;
    }
    ++refusals;
    REQUIRE(refused.error().message.find(fixture.path()) == 0);
    REQUIRE(must(fixture.reader()->info()).schema < kSchemaVersion);
    REQUIRE(difference(answers_of(fixture), before) == "");
    fixture.writer();
    REQUIRE(difference(answers_of(fixture), before) == "");
  }
  REQUIRE(refusals >= 5);
}

}  // namespace
}  // namespace memoir::test
