#pragma once

// Deletes rows of one table in the order of its primary key, a limited number at a time: one batch takes about a
// millisecond regardless of their number.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite/statement.h"

namespace memoir {

class BatchDelete {
 public:
  BatchDelete(SQLite::Database& database, std::string_view table);

  // Deletes the first rows with a key that starts with a number from `from` to `to`. Returns their number; 0 when there
  // are none.
  std::int64_t run(std::int64_t from, std::int64_t to);

 private:
  BatchDelete(SQLite::Database& database, std::string_view table, const std::vector<std::string>& key);

  SQLite::Database& database_;
  std::size_t columns_;
  Statement find_end_;
  Statement delete_before_;
  Statement delete_all_;
};

}  // namespace memoir
