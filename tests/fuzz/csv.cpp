#include <algorithm>
#include <vector>

#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "query/commands/leaks/leaks.h"
#include "query/render/render.h"
#include "support/csv_records.h"

namespace memoir::fuzz {
namespace {

using query::Table;

// Writes cells, which end with NUL in the text, in rows of three, and reads them back.
void require_written(std::string_view text) {
  Table table;
  table.columns = {{"a", "A"}, {"b", "B"}, {"c", "C"}};
  while (!text.empty()) {
    auto& row = table.rows.emplace_back();
    for (int i = 0; i < 3; ++i) row.emplace_back(std::string(cut(text, '\0')));
  }
  const auto read = test::csv_records(query::csv_header(table.columns) + query::csv_rows(table));
  require(read.has_value(), "quotes are closed");
  const auto& records = *read;
  require(records.size() == table.rows.size() + 1, "each row is a record");
  for (std::size_t at = 0; at < table.rows.size(); ++at) {
    require(records[at + 1].size() == 3, "each cell is a field");
    for (std::size_t i = 0; i < 3; ++i) {
      require(records[at + 1][i] == to_utf8(std::get<std::string>(table.rows[at][i])),
              "the field has the text of the cell");
    }
  }
}

}  // namespace

// The text is read as the series of `memoir leaks --csv`, and then written as cells.
void csv(std::string_view text) {
  require_written(text);
  const auto series = query::parse_leak_csv(text, "file");
  if (!series) {
    require(series.error().message.starts_with("file: line "), "an error names the file and the line");
    return require(to_printable(series.error().message) == series.error().message, "the error is printable");
  }
  require(std::ranges::is_sorted(series->samples, {}, &LeakSample::at_ms), "samples are in order of time");
  for (const LeakSample& sample : series->samples) require(sample.value >= 0, "no amount is negative");
  static_cast<void>(roll_up(series->samples));
}

}  // namespace memoir::fuzz
