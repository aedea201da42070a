#pragma once

// Memory outside of processes at one tick: System V segments and tmpfs mounts, with their earlier usage as far back as
// ticks are kept.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Returns segments and mounts without earlier usage, at a fraction of the cost of the functions below.
Result<ShmemState> load_shmem_state(Reader& reader, std::int64_t tick_id);

// Returns the segments, sorted by shmid.
Result<std::vector<SegmentAt>> load_segments(Reader& reader, std::int64_t tick_id);

// Returns the mounts, sorted by mount point. Unless `since_tick` is 0, the entries also have their values at that tick.
Result<std::vector<TmpfsAt>> load_tmpfs(Reader& reader, std::int64_t tick_id, std::int64_t since_tick);

}  // namespace memoir
