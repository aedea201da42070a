#include <algorithm>
#include <vector>

#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "query/commands/leaks/leaks.h"
#include "query/render/render.h"

namespace memoir::fuzz {
namespace {

using query::Table;

// RFC 4180.
std::vector<std::vector<std::string>> records_of(std::string_view text) {
  std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
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
  require(!quoted, "quotes are closed");
  records.pop_back();
  return records;
}

// What is written is read back: cells of text, ended by NULs, in rows of three.
void require_written(std::string_view text) {
  Table table;
  table.columns = {{"a", "A"}, {"b", "B"}, {"c", "C"}};
  while (!text.empty()) {
    auto& row = table.rows.emplace_back();
    for (int i = 0; i < 3; ++i) row.emplace_back(std::string(cut(text, '\0')));
  }
  const auto records = records_of(query::csv_header(table.columns) + query::csv_rows(table));
  require(records.size() == table.rows.size() + 1, "a row is a record");
  for (std::size_t at = 0; at < table.rows.size(); ++at) {
    require(records[at + 1].size() == 3, "a cell is a field");
    for (std::size_t i = 0; i < 3; ++i) {
      require(records[at + 1][i] == to_utf8(std::get<std::string>(table.rows[at][i])),
              "a field says what the cell did");
    }
  }
}

}  // namespace

// The series that `memoir leaks --csv` reads; and cells to write.
void csv(std::string_view text) {
  require_written(text);
  const auto series = query::parse_leak_csv(text, "file");
  if (!series) {
    require(series.error().message.starts_with("file: line "), "an error names the file and the line");
    return require(to_printable(to_utf8(series.error().message)) == series.error().message, "the error is printable");
  }
  require(std::ranges::is_sorted(series->samples, {}, &LeakSample::at_ms), "samples are in order of time");
  for (const LeakSample& sample : series->samples) require(sample.value >= 0, "no amount is negative");
  static_cast<void>(roll_up(series->samples));
}

}  // namespace memoir::fuzz
