#pragma once

// All answers of a Reader as text, so that files with the same answers give the same text.

#include <SQLiteCpp/Database.h>
#include <string>
#include <vector>

#include "store_fixture.h"

namespace memoir::test {

// Returns every answer of the Reader.
std::string all_answers(Reader& reader);

// Returns the rows of a query, each in the form "1|NULL|text|".
std::vector<std::string> rows_of(SQLite::Database& database, const std::string& sql);

// Returns the first line that differs; empty if none does.
std::string difference(const std::string& answers, const std::string& others);

// Returns the samples of a snapshot, without its run.
std::string sample_words(const Snapshot& snapshot);

}  // namespace memoir::test
