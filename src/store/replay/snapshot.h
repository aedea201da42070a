#pragma once

// The state at one tick, or a part of it, from the rows between its keyframe and itself.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// nullopt if the tick is not recorded.
std::optional<Snapshot> load_snapshot(SQLite::Database& database, std::int64_t tick_id);
std::optional<ProcessState> load_process(SQLite::Database& database, std::int64_t tick_id, std::int64_t process_id);

// Time since which the PSS of processes has only been estimated, by their rows; as far back as the keyframe.
std::map<std::int64_t, std::int64_t> load_estimated_since(SQLite::Database& database, std::int64_t tick_id);

// Slow-changing counters of the cgroups at a tick, sorted by path; including some deleted ones.
std::vector<CgroupDetail> load_cgroup_details(SQLite::Database& database, std::int64_t tick_id);

// A run with the columns of run_columns(), from run_named.
const char* run_columns();
StoredRun read_run(const Statement& row);
StoredRun load_run(SQLite::Database& database, std::int64_t run_id);

// Keys of meminfo without a column, at a tick.
std::vector<OtherMeminfo> load_meminfo_other(SQLite::Database& database, std::int64_t keyframe_id,
                                             std::int64_t tick_id);

// Rows with the columns of snapshot_categories.sql and snapshot_cgroups.sql.
CategorySample read_category(const Statement& row);
CgroupSample read_cgroup(const Statement& row);

}  // namespace memoir
