#include "store/rows/batch_delete.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/rows/columns.h"

namespace memoir {
namespace {

constexpr int kBatchRows = 250;

std::vector<std::string> key_of(SQLite::Database& database, std::string_view table) {
  const auto read = [](const Statement& row) { return row.text(0); };
  return every(database, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", read, table);
}

std::string find_end_sql(std::string_view table, const std::vector<std::string>& key) {
  const std::string columns = fmt::format("{}", fmt::join(key, ", "));
  return fmt::format("SELECT {0} FROM {1} WHERE {2} BETWEEN ? AND ? ORDER BY {0} LIMIT 1 OFFSET {3}", columns, table,
                     key.front(), kBatchRows);
}

// The lower bound avoids scanning rows before the range.
std::string delete_before_sql(std::string_view table, const std::vector<std::string>& key) {
  return fmt::format("DELETE FROM {} WHERE {} >= ? AND ({}) < ({})", table, key.front(), fmt::join(key, ", "),
                     placeholders(key.size()));
}

std::string delete_all_sql(std::string_view table, const std::vector<std::string>& key) {
  return fmt::format("DELETE FROM {} WHERE {} BETWEEN ? AND ?", table, key.front());
}

}  // namespace

BatchDelete::BatchDelete(SQLite::Database& database, std::string_view table)
    : BatchDelete(database, table, key_of(database, table)) {}

BatchDelete::BatchDelete(SQLite::Database& database, std::string_view table, const std::vector<std::string>& key)
    : database_(database),
      columns_(key.size()),
      find_end_(database, find_end_sql(table, key)),
      delete_before_(database, delete_before_sql(table, key)),
      delete_all_(database, delete_all_sql(table, key)) {}

std::int64_t BatchDelete::run(std::int64_t from, std::int64_t to) {
  if (from > to) return 0;
  if (!find_end_.bind(from, to).step()) {
    delete_all_.run(from, to);
    return database_.getChanges();
  }
  delete_before_.bind(from);
  for (std::size_t i = 0; i < columns_; ++i) delete_before_.add(find_end_.integer(static_cast<int>(i)));
  find_end_.reset();
  delete_before_.finish();
  return database_.getChanges();
}

}  // namespace memoir
