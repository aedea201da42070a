#pragma once

// --limit: the number of rows in an answer, and the note on omitted rows. Without --limit, an answer has as many rows
// as fit the terminal, and 20 in a pipe. CSV and JSON, which programs read, have all rows.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/report/report.h"
#include "query/state/command.h"

namespace memoir::query {

inline constexpr std::size_t kDefaultRows = 20;

// Returns the lines of the terminal, less on a narrow one; nullopt if the answer is not a table on a terminal. Without
// --limit the table must fit them.
std::optional<std::size_t> lines_to_fit(const Context& context);

// Returns how many of `all` rows to show in the only table of an answer with `more_lines` more lines than most answers.
std::size_t limited(const Context& context, std::size_t all, std::size_t more_lines = 0);

// Like limited() above, but independent of the terminal: `by_default` applies without --limit.
std::size_t limited(const Options& options, std::size_t all, std::size_t by_default);

// Reports rows of a report or one of its sections that --limit omitted: a note, and for CSV and JSON a line on standard
// error.
template <typename Part>
void note_left_out(Part& part, std::string sentence) {
  part.left_out.push_back(sentence);
  part.notes.push_back(std::move(sentence));
}

// Notes the processes that load_processes() left out: "the 110,000 processes with the shortest lifetime are left out;
// …"
std::string brief_left_out(std::int64_t processes);

// Adds the number of rows, and of omitted ones, to the totals.
void add_row_totals(Report& report, std::size_t all, std::size_t shown);

struct Truncation {
  std::size_t shown = 0;
  std::size_t all = 0;
  std::int64_t kib = 0;
  std::string_view of;            // the metric of kib: "PSS"
  bool adds_up = true;            // kib is a sum; false for marks, which do not add up: kib is the maximum
  std::size_t more_lines = 0;     // additional lines compared with most answers
  std::size_t beyond_memory = 0;  // part of `all`: small rows that were left out because there are too many
};

// Adds to the notes and the totals: "12 of 320 rows; the other 308 hold 1.2 GiB of PSS".
void note_cut(Report& report, const Truncation& cut, Units units);

// Keeps the first rows, and notes the others. `value` returns the KiB of a row, or nullopt. On entry, cut.kib is the
// memory in the rows of cut.beyond_memory.
template <typename Row, typename GetValue>
void limit_rows(std::vector<Row>& rows, Report& report, const Context& context, GetValue value, Truncation cut) {
  cut.all = rows.size() + cut.beyond_memory;
  cut.shown = limited(context, rows.size(), cut.more_lines);
  for (std::size_t i = cut.shown; i < rows.size(); ++i) {
    const std::int64_t kib = std::invoke(value, rows[i]).value_or(0);
    cut.kib = cut.adds_up ? cut.kib + kib : std::max(cut.kib, kib);
  }
  rows.resize(cut.shown);
  note_cut(report, cut, context.options.units);
}

}  // namespace memoir::query
