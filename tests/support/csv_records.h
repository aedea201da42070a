#pragma once

// Reads CSV back by RFC 4180; each record ends with a newline.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::test {

using CsvRecords = std::vector<std::vector<std::string>>;

// Returns the records of `text`; nullopt if a quote is not closed.
inline std::optional<CsvRecords> csv_records(std::string_view text) {
  CsvRecords records(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    std::string& cell = records.back().back();
    if (quoted && c == '"' && text.substr(at, 2) == "\"\"") {
      cell += c;
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      records.back().emplace_back();
    } else if (!quoted && c == '\n') {
      records.emplace_back(1);
    } else {
      cell += c;
    }
  }
  records.pop_back();
  return quoted ? std::nullopt : std::optional(records);
}

}  // namespace memoir::test
