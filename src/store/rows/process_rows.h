#pragma once

// The rows of `process`, and the names that they refer to.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/tick.h"
#include "store/rows/names.h"
#include "store/sqlite/statement.h"

namespace memoir {

// Returns the value of the column command.line_digest.
std::int64_t line_digest(std::string_view line);

// The time of the last tick with the previous image of process p, after which p started; for a process's first image,
// the start of the process. An expression in SQL.
inline constexpr const char* kImageStart =
    "COALESCE((SELECT q.last_ms FROM process AS q WHERE q.boot_id = p.boot_id AND q.pid = p.pid "
    "AND q.start_ticks = p.start_ticks AND q.exec_count = p.exec_count - 1), p.start_ms)";

class ProcessRows {
 public:
  explicit ProcessRows(SQLite::Database& database);

  struct Row {
    std::int64_t id = 0;
    std::optional<std::int64_t> exited_tick_id;
    std::int64_t identity_id = 0;
    std::int64_t cgroup_id = 0;
  };

  // An observation of a process: its tick, and that tick's wall time.
  struct Sight {
    std::int64_t tick_id = 0;
    std::int64_t at_ms = 0;
  };

  std::optional<Row> find(std::int64_t boot_id, const ProcessKey& key);
  Row insert(std::int64_t boot_id, const ProcessInfo& info, const Sight& first);
  // Returns the value of kImageStart.
  std::int64_t image_start_ms(std::int64_t id);
  Row update(std::int64_t id, const ProcessInfo& info, std::int64_t at_ms);
  // `gone` is the first tick without the process.
  void end(std::int64_t id, const Sight& gone, std::string_view exit_kind);
  // Undoes end() for a process that is alive after all. It counts as absent from `gone.exited_tick_id` up to its next
  // sample.
  void revive(const Row& gone);
  // Returns the number of processes of other boots without an observed exit.
  std::int64_t count_other_boots(std::int64_t boot_id);
  // Ends these processes.
  void end_other_boots(std::int64_t boot_id, const Sight& gone);

  std::int64_t category_id(const std::string& name) { return categories_.id(name); }
  std::int64_t cgroup_id(const std::string& path, std::int64_t at_ms) { return cgroups_.id_seen(at_ms, path); }
  void set_container(std::int64_t cgroup_id, const Container& container);

 private:
  void add_info(Statement& statement, const ProcessInfo& info, std::int64_t at_ms, Row& row);

  SQLite::Database& database_;
  Names users_;
  Names commands_;
  Names directories_;
  Names settings_;
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
