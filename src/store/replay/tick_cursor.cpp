#include "store/replay/tick_cursor.h"

#include <fmt/format.h>

namespace memoir {

std::int64_t keyframe_of(SQLite::Database& database, std::int64_t tick_id) {
  return one(database, "SELECT keyframe_id FROM tick WHERE id = ?", tick_id).value_or(tick_id);
}

std::int64_t last_tick_id(SQLite::Database& database) {
  return one(database, "SELECT MAX(id) FROM tick").value_or(0);
}

std::string rows_sql(const std::string& columns, const char* table, const char* order,
                     std::optional<std::int64_t> process_id) {
  const std::string only = process_id ? fmt::format(" AND process_id = {}", *process_id) : "";
  return fmt::format("SELECT tick_id, {} FROM {} WHERE tick_id BETWEEN ? AND ?{} ORDER BY {}", columns, table, only,
                     order);
}

TickCursor::TickCursor(SQLite::Database& database, const std::string& sql, const TickSpan& ticks)
    : statement_(database, sql) {
  more_ = statement_.bind(ticks.first, ticks.last).step();
}

}  // namespace memoir
