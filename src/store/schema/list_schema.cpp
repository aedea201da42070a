// Build tool: prints schema_objects.h, the objects of the schema as SQLite stores them. A file is compared with them at
// every opening; running the migrations instead would take longer than most queries.

#include <cstdio>
#include <cstdlib>
#include <sqlite3.h>

#include "store/schema/sql.h"

namespace {

constexpr const char* kHead = R"(#pragma once

// Made by list_schema.cpp from schema/.

namespace memoir::sql {

struct Object {
  const char* type;
  const char* name;
  const char* table;
  const char* sql;  // empty for the index of a key
};

)";

using Row = int (*)(void*, int, char**, char**);

void run(sqlite3* database, const char* sql, Row row = nullptr, void* context = nullptr) {
  if (sqlite3_exec(database, sql, row, context, nullptr) == SQLITE_OK) return;
  std::fprintf(stderr, "list_schema: %s\n", sqlite3_errmsg(database));
  std::exit(1);
}

int print_object(void*, int, char** row, char**) {
  std::printf("    {\"%s\", \"%s\", \"%s\", R\"sql(%s)sql\"},\n", row[0], row[1], row[2], row[3]);
  return 0;
}

// SQLite resolves the columns of a view only when it is queried.
int prepare_view(void* database, int, char** row, char**) {
  run(static_cast<sqlite3*>(database), row[0]);
  return 0;
}

}  // namespace

int main() {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  for (const char* migration : memoir::sql::migrations) run(database, migration);
  run(database, memoir::sql::views);
  std::fputs(kHead, stdout);
  std::puts("inline constexpr Object objects[] = {");
  run(database, "SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_schema ORDER BY rowid", print_object);
  run(database, "SELECT printf('SELECT * FROM \"%w\" LIMIT 0', name) FROM sqlite_schema WHERE type = 'view'",
      prepare_view, database);
  std::puts("};\n\n}  // namespace memoir::sql");
  sqlite3_close(database);
  return 0;
}
