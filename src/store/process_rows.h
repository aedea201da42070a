#pragma once

// The rows of `process` and the names that they point to.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tick.h"
#include "store/statement.h"

namespace memoir {

class ProcessRows {
 public:
  explicit ProcessRows(SQLite::Database& database);

  struct Row {
    std::int64_t id = 0;
    std::optional<std::int64_t> gone_tick_id;
  };

  std::optional<Row> find(std::int64_t boot_id, const ProcessKey& key);
  std::int64_t insert(std::int64_t boot_id, const ProcessInfo& info, std::int64_t first_tick_id);
  void update(std::int64_t id, const ProcessInfo& info);
  void end(std::int64_t id, std::int64_t gone_tick_id, std::string_view end_kind);
  // It lives after all: from `gone.gone_tick_id` on it was merely not there.
  void revive(const Row& gone);
  // Processes of other boots that nobody saw end.
  void end_other_boots(std::int64_t boot_id, std::int64_t gone_tick_id);

  std::int64_t category_id(const std::string& name);

 private:
  // The row of a name that is stored once.
  class Names {
   public:
    Names(SQLite::Database& database, const char* find, const char* insert)
        : database_(database), find_(database, find), insert_(database, insert) {}
    template <typename... Values>
    std::int64_t id(const Values&... values);

   private:
    SQLite::Database& database_;
    Statement find_;
    Statement insert_;
  };

  void add_info(Statement& statement, const ProcessInfo& info);

  SQLite::Database& database_;
  Names users_;
  Names commands_;
  Names categories_;
  Names cgroups_;
  Statement find_;
  Statement insert_;
  Statement update_;
  Statement end_;
  Statement revive_;
  Statement absence_;
};

}  // namespace memoir
