#pragma once

// --columns: a choice among the columns of a table.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/report/report.h"

namespace memoir::query {

// Returns the names in a list like "pss,pid,command", without blanks around them.
std::vector<std::string> split_columns(std::string_view list);

// Keeps only the named columns, in the order of the names. A name is the one in JSON and CSV, with or without its unit
// ("pss" is pss_kib), or a heading. In human-readable output, a tree keeps its own column. An unknown name is
// malformed, and the message lists the columns.
Status choose_columns(const std::vector<std::string>& names, bool is_data_format, Table& table);

}  // namespace memoir::query
