#pragma once

// Parts of the state at one tick, each at a fraction of the cost of Reader::snapshot().

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Returns the state of one process; nullopt if it is not running at that tick.
Result<std::optional<ProcessState>> load_process(Reader& reader, std::int64_t tick_id, std::int64_t process_id);

// Returns, by process row, the wall time since which the PSS of a process has only been estimated. It is never before
// the keyframe of the tick.
Result<std::map<std::int64_t, std::int64_t>> load_estimated_since(Reader& reader, std::int64_t tick_id);

// Returns the recorder's own memory as last stored in the run of the tick.
Result<std::optional<RecorderMemory>> load_recorder_memory(Reader& reader, const StoredTick& tick);

// Returns the slow-changing counters of the cgroups, sorted by path, including some deleted cgroups.
Result<std::vector<CgroupDetail>> load_cgroup_details(Reader& reader, std::int64_t tick_id);

}  // namespace memoir
