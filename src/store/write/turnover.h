#pragma once

// Counts processes that started and exited since the previous tick. A process that execs counts once. A process that
// ran only between two ticks counts, too. So alive before + started = alive now + exited. Pure.

#include <vector>

#include "model/tick.h"
#include "store/rows/tick_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

// `before`: processes of the previous tick, sorted by key. Without an earlier tick in the file (`is_first`) the
// processes of the tick do not count as started. oom_kills stays unknown.
TickActivity count_turnover(const std::vector<LiveProcess>& before, const Tick& tick, bool is_first);

}  // namespace memoir
