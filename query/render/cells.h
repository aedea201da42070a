#pragma once

// Common to all human-readable renderers: format and unit of values. Foreign text is made printable, but not escaped
// for any markup.

#include <string>
#include <string_view>
#include <vector>

#include "query/render/render.h"
#include "query/report/format.h"

namespace memoir::query {

bool is_size(Kind kind);
// Returns whether the kind is aligned right: numbers are, words and times are not.
bool is_right(Kind kind);

// Returns one unit for all sizes of a table.
SizeUnit unit_of(const Table& table, Units units);

std::string cell_text(const Value& value, Kind kind, SizeUnit unit, Zone zone);
// Like cell_text(), but each size has its own unit.
std::string text_with_unit(const Value& value, Kind kind, Units units, Zone zone);

// The human-readable columns. The column that ranks the rows comes first, with an arrow.
struct DisplayTable {
  struct Head {
    const Column* column = nullptr;
    std::string header;  // header with its unit and the arrow
  };
  std::vector<Head> heads;
  std::vector<std::vector<std::string>> rows;
};
DisplayTable display_table(const Table& table, const Presentation& presentation);

std::string fact_text(const Field& fact, Units units, Zone zone);

// Joins two texts by `between` if both are non-empty.
std::string joined(const std::string& first, std::string_view between, const std::string& second);

// Returns the time or the range of the answer: "2026-11-20 03:14:07".
std::string time_asked(const Report& report, Zone zone);

// "web1, 2026-11-20 03:14:07": the subject of an answer.
std::string place_and_time(const ReportContext& asked, const Report& report, Zone zone);

}  // namespace memoir::query
