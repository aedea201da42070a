#pragma once

// --limit: how many rows an answer shows, and what it says of those it leaves out. Without it, what fits the terminal,
// and 20 in a pipe; CSV and JSON, which programs read, have all rows.

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

// The lines of the terminal where the answer is a table on one. Without --limit all of the table must fit them.
std::optional<std::size_t> lines_to_fit(const Context& context);

// How many of `all` rows to show, where they are the only table of the answer, which has so many lines more than most.
std::size_t limited(const Context& context, std::size_t all, std::size_t more_lines = 0);

// The same, where `by_default` are shown without --limit.
std::size_t limited(const Options& options, std::size_t all, std::size_t by_default);

// That --limit left rows of a report or of one of its sections out: a note, and beside CSV and JSON a line on standard
// error.
template <typename Part>
void note_left_out(Part& part, std::string sentence) {
  part.left_out.push_back(sentence);
  part.notes.push_back(std::move(sentence));
}

// How many rows there are, and how many of them are cut off, in the totals.
void add_row_totals(Report& report, std::size_t all, std::size_t shown);

struct Cut {
  std::size_t shown = 0;
  std::size_t all = 0;
  std::int64_t kib = 0;
  std::string_view of;         // what kib is of: "PSS"
  bool adds_up = true;         // kib is a sum; marks do not add up: it is the largest
  std::size_t more_lines = 0;  // of the answer, than most have
};

// In the notes and the totals: "12 of 320 rows; the other 308 hold 1.2 GiB of PSS".
void note_cut(Report& report, const Cut& cut, Units units);

// Leaves the first rows, and notes the rest; `value` gives the KiB of a row, or nothing.
template <typename Row, typename GetValue>
void limit_rows(std::vector<Row>& rows, Report& report, const Context& context, GetValue value, Cut cut) {
  cut.all = rows.size();
  cut.shown = limited(context, rows.size(), cut.more_lines);
  for (std::size_t i = cut.shown; i < rows.size(); ++i) {
    const std::int64_t kib = std::invoke(value, rows[i]).value_or(0);
    cut.kib = cut.adds_up ? cut.kib + kib : std::max(cut.kib, kib);
  }
  rows.resize(cut.shown);
  note_cut(report, cut, context.options.units);
}

}  // namespace memoir::query
