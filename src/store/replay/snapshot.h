#pragma once

// Loads the state at a tick, or a part of that state, from the rows between the tick's keyframe and the tick.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// Each returns nullopt if the tick is not recorded, or has no such process.
std::optional<Snapshot> load_snapshot(SQLite::Database& database, std::int64_t tick_id);
std::optional<ProcessState> load_process(SQLite::Database& database, std::int64_t tick_id, std::int64_t process_id);

// Returns, by process row, the time since which the PSS of a process has only been estimated. It is never before the
// keyframe.
std::map<std::int64_t, std::int64_t> load_estimated_since(SQLite::Database& database, std::int64_t tick_id);

// Returns the slow-changing counters of the cgroups at a tick, sorted by path, including some deleted cgroups.
std::vector<CgroupDetail> load_cgroup_details(SQLite::Database& database, std::int64_t tick_id);

// read_run() reads a row of the view run_named with the columns of run_columns().
const char* run_columns();
StoredRun read_run(const Statement& row);
StoredRun load_run(SQLite::Database& database, std::int64_t run_id);

// Returns the meminfo keys without a column, with their values at a tick.
std::vector<OtherMeminfo> load_meminfo_other(SQLite::Database& database, std::int64_t keyframe_id,
                                             std::int64_t tick_id);

// These read a row with the columns of snapshot_categories.sql or snapshot_cgroups.sql.
CategorySample read_category(const Statement& row);
CgroupSample read_cgroup(const Statement& row);

}  // namespace memoir
