#pragma once

// Reads the tables of a Markdown page, for tests of their contents.

#include <sstream>
#include <string>
#include <vector>

#include "support/catch.h"

namespace memoir::test {

// Returns the cells of the table rows in a section, without the headings.
inline std::vector<std::vector<std::string>> table_of(const std::string& page, const std::string& section) {
  const std::size_t begin = page.find("## " + section + "\n");
  REQUIRE(begin != std::string::npos);
  std::istringstream text(page.substr(begin, page.find("\n## ", begin) - begin));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("| ")) continue;
    std::vector<std::string>& cells = rows.emplace_back();
    for (std::size_t at = 1; at < line.size();) {
      std::size_t end = line.find('|', at);
      while (end != std::string::npos && line[end - 1] == '\\') end = line.find('|', end + 1);
      REQUIRE(end != std::string::npos);
      cells.push_back(line.substr(at, end - at));
      at = end + 1;
    }
  }
  REQUIRE(rows.size() > 2);
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

}  // namespace memoir::test
