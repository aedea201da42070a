#pragma once

// The rows of `process` and the names that they point to.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tick.h"
#include "store/sqlite/statement.h"

namespace memoir {

class ProcessRows {
 public:
  explicit ProcessRows(SQLite::Database& database);

  struct Row {
    std::int64_t id = 0;
    std::optional<std::int64_t> gone_tick_id;
  };

  // When a process was seen: its tick, and that tick's wall time.
  struct Sight {
    std::int64_t tick_id = 0;
    std::int64_t at_ms = 0;
  };

  std::optional<Row> find(std::int64_t boot_id, const ProcessKey& key);
  std::int64_t insert(std::int64_t boot_id, const ProcessInfo& info, const Sight& first);
  void update(std::int64_t id, const ProcessInfo& info, std::int64_t at_ms);
  // `gone`: the first tick without it.
  void end(std::int64_t id, const Sight& gone, std::string_view end_kind);
  // It lives after all: from `gone.gone_tick_id` on it was merely not there.
  void revive(const Row& gone);
  // Processes of other boots that nobody saw end.
  void end_other_boots(std::int64_t boot_id, const Sight& gone);

  std::int64_t category_id(const std::string& name);
  std::int64_t cgroup_id(const std::string& path, std::int64_t at_ms);
  void set_container(std::int64_t cgroup_id, const Container& container);

 private:
  // The row of a name that is stored once.
  class Names {
   public:
    Names(SQLite::Database& database, const char* find, const char* insert)
        : database_(database), find_(database, find), insert_(database, insert) {}
    template <typename... Values>
    std::int64_t id(const Values&... values);
    // One that keeps when it was seen first and last.
    template <typename... Values>
    std::int64_t id_seen(std::int64_t at_ms, const Values&... values);

   private:
    template <typename... Values>
    std::optional<std::int64_t> find(const Values&... values);

    SQLite::Database& database_;
    Statement find_;
    Statement insert_;
  };

  void add_info(Statement& statement, const ProcessInfo& info, std::int64_t at_ms);

  SQLite::Database& database_;
  Names users_;
  Names commands_;
  Names categories_;
  Names cgroups_;
  Names containers_;
  Names identities_;
  Statement find_;
  Statement insert_;
  Statement update_;
  Statement end_;
  Statement revive_;
  Statement absence_;
  Statement set_container_;
};

}  // namespace memoir
