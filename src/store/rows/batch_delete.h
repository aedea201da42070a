#pragma once

// Deletes rows of one table in the order of its primary key, a bounded number at a time: however many there are, one
// batch takes about a millisecond.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite/statement.h"

namespace memoir {

class BatchDelete {
 public:
  BatchDelete(SQLite::Database& database, std::string_view table);

  // The first rows whose key begins with a number from `from` to `to`; how many there were. 0: there are none.
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
