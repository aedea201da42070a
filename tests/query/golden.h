#pragma once

// Answers compared with tests/query/golden. With MEMOIR_UPDATE_GOLDEN set the files are written; read the difference
// before a commit.

#include <functional>
#include <string>
#include <vector>

#include "query/history.h"

namespace memoir::test {

void compare_with_golden(const std::string& name, const std::string& text);

// Checks one answer in all its formats: the table against NAME.table, the names in JSON against NAME.names, the rows of
// CSV against those of JSON, and the cells of markdown and HTML against each other and the table. Without a name no
// file is compared. `answer` returns the answer in a format.
using InFormat = std::function<std::string(const std::string& format)>;
void check_formats(const std::string& name, const InFormat& answer, bool has_pages = false);
void check_formats(const std::string& name, const History& history, std::vector<std::string> words,
                   bool has_pages = false);

}  // namespace memoir::test
