#pragma once

// Everything at one tick, or a part of it, from the rows between its keyframe and itself.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

Result<Snapshot> load_snapshot(SQLite::Database& database, std::int64_t tick_id);
std::optional<ProcessState> load_process(SQLite::Database& database, std::int64_t tick_id, std::int64_t process_id);
std::vector<Holder> load_largest(SQLite::Database& database, std::int64_t tick_id, std::size_t most,
                                 const std::function<bool(const StoredProcess&)>& takes);

// Since when the PSS of processes has been but estimated, by their rows; as far back as the keyframe.
std::map<std::int64_t, std::int64_t> load_estimated_since(SQLite::Database& database, std::int64_t tick_id);

// What seldom moves of the cgroups at a tick, sorted by path; also of some that are gone by then.
std::vector<CgroupDetail> load_cgroup_details(SQLite::Database& database, std::int64_t tick_id);
// Of all cgroups of the file, sorted by path.
std::vector<CgroupContainer> load_containers(SQLite::Database& database);

// A row of run_named.
const char* run_columns();
StoredRun read_run(const Statement& row);

}  // namespace memoir
