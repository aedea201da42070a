#include "query/report/report.h"

namespace memoir::query {

void mark_sorted(Table& table, std::string_view name) {
  for (Column& column : table.columns) column.sorted = column.sorted || column.name == name || column.header == name;
}

}  // namespace memoir::query
