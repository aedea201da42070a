#pragma once

// --limit: how many rows an answer shows, and what it says of those it leaves out.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "query/options.h"
#include "query/report.h"

namespace memoir::query {

// How many of `all` rows it leaves.
std::size_t limited(const Options& options, std::size_t all);

struct Cut {
  std::size_t shown = 0;
  std::size_t all = 0;
  std::int64_t kib = 0;
  std::string_view of;  // what kib is of: "PSS"
  bool adds_up = true;  // kib is a sum; marks do not add up: it is the largest
};

// In the notes and the totals: "12 of 320 rows; the other 308 hold 1.2 GiB of PSS".
void note_cut(Report& report, const Cut& cut, Units units);

// Leaves the first rows, and notes the rest; `value` gives the KiB of a row, or nothing.
template <typename Row, typename GetValue>
void limit_rows(std::vector<Row>& rows, Report& report, const Options& options, GetValue value, Cut cut) {
  cut.all = rows.size();
  cut.shown = limited(options, rows.size());
  for (std::size_t i = cut.shown; i < rows.size(); ++i) {
    const std::int64_t kib = value(rows[i]).value_or(0);
    cut.kib = cut.adds_up ? cut.kib + kib : std::max(cut.kib, kib);
  }
  rows.resize(cut.shown);
  note_cut(report, cut, options.units);
}

}  // namespace memoir::query
