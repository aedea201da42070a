#pragma once

// Databases of the schemas that were released, kept in tests/fixtures/schema as NNN.db: three runs in two boots, each
// with a few simulated processes. Before a schema changes again, one of the schema until then is added.

#include <SQLiteCpp/Database.h>
#include <string>
#include <vector>

#include "store_fixture.h"

namespace memoir::test {

std::vector<std::string> released_databases();

// A copy of one in the fixture's folder, whose path it has.
void copy_released(const std::string& released, const StoreFixture& fixture);

// Every answer that a Reader gives, in words: two files of the same answers hold the same.
std::string all_answers(Reader& reader);

// The rows that a query yields, each as "1|NULL|text|".
std::vector<std::string> rows_of(SQLite::Database& database, const std::string& sql);

// The first line in which answers differ; empty if none does.
std::string difference(const std::string& answers, const std::string& others);

// What a snapshot says of memory, without what comes after it.
std::string sample_words(const Snapshot& snapshot);

// Commands of the file that the writer would not find.
std::int64_t commands_without_digest(const std::string& path);

}  // namespace memoir::test
