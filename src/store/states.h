#pragma once

// Parts of the state at one tick, each at a fraction of the cost of Reader::snapshot().

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// One process; nullopt if it does not live at that tick.
Result<std::optional<ProcessState>> load_process(Reader& reader, std::int64_t tick_id, std::int64_t process_id);

// Since when the PSS of processes has only been estimated, in wall milliseconds by their rows; as far back as the
// keyframe before the tick.
Result<std::map<std::int64_t, std::int64_t>> load_estimated_since(Reader& reader, std::int64_t tick_id);

// Slow-changing counters of the cgroups, sorted by path; also of some that are gone by then.
Result<std::vector<CgroupDetail>> load_cgroup_details(Reader& reader, std::int64_t tick_id);

}  // namespace memoir
