#pragma once

// Compares answers with the files in tests/query/golden. If MEMOIR_UPDATE_GOLDEN is set, the files are written instead;
// read the difference before a commit.

#include <functional>
#include <string>
#include <vector>

#include "query/history.h"

namespace memoir::test {

void compare_with_golden(const std::string& name, const std::string& text);

// Checks one answer in all its formats. The table is compared with NAME.table, and the names in JSON with NAME.names.
// The rows of CSV are compared with those of JSON, and the cells of Markdown and HTML with each other and with the
// table. Without a name no file is compared. `answer` returns the answer in a format.
using InFormat = std::function<std::string(const std::string& format)>;
void check_formats(const std::string& name, const InFormat& answer, bool has_pages = false);
void check_formats(const std::string& name, const History& history, std::vector<std::string> words,
                   bool has_pages = false);

}  // namespace memoir::test
