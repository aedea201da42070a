#pragma once

// What all renderers for people share: how a value reads, and in which unit. Text from outside is made printable, but
// not escaped for any markup.

#include <string>
#include <string_view>
#include <vector>

#include "query/render/render.h"
#include "query/report/format.h"

namespace memoir::query {

bool is_size(Kind kind);
// Numbers are aligned right, words and times left.
bool is_right(Kind kind);

// One for the whole table.
SizeUnit unit_of(const Table& table, Units units);

std::string cell_text(const Value& value, Kind kind, SizeUnit unit, Zone zone);
// Sizes with a unit of their own.
std::string text_with_unit(const Value& value, Kind kind, Units units, Zone zone);

// The columns that people see; the one that the rows are ranked by comes first, with a mark.
struct PeoplesTable {
  struct Head {
    const Column* column = nullptr;
    std::string header;  // with its unit and the mark
  };
  std::vector<Head> heads;
  std::vector<std::vector<std::string>> rows;
};
PeoplesTable peoples_table(const Table& table, const Presentation& presentation);

std::string fact_text(const Field& fact, Units units, Zone zone);

// With `between` where both say something.
std::string joined(const std::string& first, std::string_view between, const std::string& second);

// "2026-11-20 03:14:07", or from when to when.
std::string time_asked(const Report& report, Zone zone);

// "web1, 2026-11-20 03:14:07"; what an answer is of.
std::string place_and_time(const Asked& asked, const Report& report, Zone zone);

}  // namespace memoir::query
