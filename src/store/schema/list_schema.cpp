// A program of the build: prints schema_objects.h, which says what each version of the schema has, as SQLite keeps it.
// A file is compared with that whenever it is opened, and to make it from the migrations takes longer than most
// answers.

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sqlite3.h>

#include "store/schema/sql.h"

namespace {

constexpr const char* kHead = R"(#pragma once

// Made by list_schema.cpp from schema/.

#include <span>

namespace memoir::sql {

struct Object {
  const char* type;
  const char* name;
  const char* table;
  const char* sql;  // of an index of a key there is none
};

)";

using Row = int (*)(void*, int, char**, char**);

void run(sqlite3* database, const char* sql, Row row = nullptr) {
  if (sqlite3_exec(database, sql, row, nullptr, nullptr) == SQLITE_OK) return;
  std::fprintf(stderr, "list_schema: %s\n", sqlite3_errmsg(database));
  std::exit(1);
}

int print_object(void*, int, char** row, char**) {
  std::printf("    {\"%s\", \"%s\", \"%s\", R\"sql(%s)sql\"},\n", row[0], row[1], row[2], row[3]);
  return 0;
}

}  // namespace

int main() {
  constexpr std::size_t versions = std::size(memoir::sql::migrations);
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  std::fputs(kHead, stdout);
  for (std::size_t version = 1; version <= versions; ++version) {
    run(database, memoir::sql::migrations[version - 1]);
    if (version == versions) run(database, memoir::sql::views);
    std::printf("inline constexpr Object objects_%zu[] = {\n", version);
    run(database, "SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_schema ORDER BY rowid", print_object);
    std::puts("};\n");
  }
  std::puts("// Of version 1, 2 and so on, in the order of making; those before the last without views.");
  std::puts("inline constexpr std::span<const Object> objects[] = {");
  for (std::size_t version = 1; version <= versions; ++version) std::printf("    objects_%zu,\n", version);
  std::puts("};\n\n}  // namespace memoir::sql");
  sqlite3_close(database);
  return 0;
}
