#include "bounds/row.h"

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "support/catch.h"
#include "support/markdown_table.h"
#include "support/slurp.h"

namespace memoir::test {

std::int64_t BoundRow::number(std::string_view words) const {
  static const std::regex last_number("([0-9][0-9,]*)( KiB| MiB)? ?$");
  for (std::size_t at = bounds.find(words); at != std::string::npos; at = bounds.find(words, at + 1)) {
    const std::string before = bounds.substr(0, at);
    std::smatch match;
    if (!std::regex_search(before, match, last_number)) continue;
    std::string digits = match[1];
    std::erase(digits, ',');
    const std::int64_t unit = match[2] == " KiB" ? 1024 : match[2] == " MiB" ? 1024 * 1024 : 1;
    return std::atoll(digits.c_str()) * unit;
  }
  FAIL(quantity << ": no number before \"" << words << "\" in " << bounds);
  return 0;
}

std::vector<BoundRow> bound_rows() {
  std::vector<BoundRow> rows;
  for (const auto& cells : table_of(slurp(MEMOIR_SOURCE "/docs/security.md"), "Bounds on what a user controls")) {
    REQUIRE(cells.size() == 5);
    const std::string& quantity = cells[0];
    rows.push_back({quantity.substr(1, quantity.size() - 2), cells[1] + '|' + cells[2] + '|' + cells[3]});
  }
  return rows;
}

}  // namespace memoir::test
