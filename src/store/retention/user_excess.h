#pragma once

// Deletes short-lived processes of the user with the most of them, with all of their rows, oldest first. It is used
// for a file at its cap, where one user's many new processes would otherwise make ticks expire early. Root's processes
// stay.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "store/marks/table.h"
#include "store/sqlite/statement.h"

namespace memoir {

class UserExcess {
 public:
  // A user may have up to 1/kUserShare of the short-lived processes, or kMinProcesses if that is more.
  static constexpr std::int64_t kUserShare = 8;
  static constexpr std::int64_t kMinProcesses = 1000;

  explicit UserExcess(SQLite::Database& database);

  // Chooses the user and a part of its excess, from processes that exited before `tick_id`. Returns false if no user
  // has an excess.
  bool choose(std::int64_t tick_id);
  // Deletes some of the chosen processes, in an open transaction. Returns false if none are left.
  bool some();

 private:
  void erase(std::int64_t id, std::int64_t first_tick_id, std::int64_t exited_tick_id);
  void report();

  SQLite::Database& database_;
  std::int64_t tick_id_ = 0;
  std::int64_t uid_ = 0;
  std::int64_t left_ = 0;     // number of processes still to delete
  std::int64_t deleted_ = 0;  // number of processes deleted since the last event
  std::int64_t reported_ms_ = 0;
  bool merged_ = false;
  bool found_none_ = false;  // whether no user had an excess at tick_id_
  MarkTable marks_;
  Statement largest_;
  Statement oldest_;
  Statement erase_process_;
  Statement erase_marks_;
  std::deque<Statement> erase_rows_;
};

}  // namespace memoir
