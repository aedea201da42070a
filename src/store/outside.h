#pragma once

// What uses memory outside of processes at one tick: System V segments and tmpfs mounts; and what they used before, as
// far back as ticks are kept.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Both without their past, at a fraction of the cost.
Result<Outside> load_outside(Reader& reader, std::int64_t tick_id);

// Sorted by shmid.
Result<std::vector<SegmentAt>> load_segments(Reader& reader, std::int64_t tick_id);

// Sorted by mount point. `since_tick`: a tick whose values the entries have too; 0: none.
Result<std::vector<TmpfsAt>> load_tmpfs(Reader& reader, std::int64_t tick_id, std::int64_t since_tick);

}  // namespace memoir
