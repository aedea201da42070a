#include "query/history/periods.h"

#include "analysis/grouping.h"

namespace memoir::query {

Section periods_section(const std::vector<ComparedPeriod>& periods) {
  using Row = ComparedPeriod;
  const Columns<Row> columns{
      {{"period", "PERIOD"}, [](const Row& row) { return std::string(row.name); }},
      {{"from_ms", "FROM", Kind::time}, [](const Row& row) { return row.range.from_ms; }},
      {{"to_ms", "TO", Kind::time}, [](const Row& row) { return row.range.to_ms; }},
      {{"recorded_ms", "RECORDED", Kind::duration}, [](const Row& row) { return row.coverage.recorded_ms; }},
      {{"recorded_percent", "SHARE", Kind::percent},
       [](const Row& row) { return share_percent(row.coverage.recorded_ms, row.range.to_ms - row.range.from_ms); }},
      {{"ticks", "TICKS", Kind::count, 1}, [](const Row& row) { return row.coverage.ticks; }},
      {{"tier", "TIER", Kind::text, 2}, [](const Row& row) { return std::string(to_string(row.tier)); }}};
  return {"periods", "Coverage of both periods", make_table(columns, periods)};
}

}  // namespace memoir::query
