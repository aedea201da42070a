#pragma once

// The answers of a Reader as text: two files with the same answers give the same text.

#include <SQLiteCpp/Database.h>
#include <string>
#include <vector>

#include "store_fixture.h"

namespace memoir::test {

// Every answer of the Reader.
std::string all_answers(Reader& reader);

// The rows of a query, each as "1|NULL|text|".
std::vector<std::string> rows_of(SQLite::Database& database, const std::string& sql);

// The first line that differs; empty if none does.
std::string difference(const std::string& answers, const std::string& others);

// The samples of a snapshot, without its run.
std::string sample_words(const Snapshot& snapshot);

}  // namespace memoir::test
