#pragma once

// Limits of cgroups that were changed between two ticks, as events: who hits a limit asks who set it. Pure.

#include <cstdint>
#include <vector>

#include "model/tick.h"
#include "store/write/writer_state.h"

namespace memoir {

// In five minutes: who may set a limit may do so all the time.
inline constexpr std::int64_t kMostLimitChanges = 30;

// Of those cgroups that `before` has, too; both are sorted by path. `told` counts those of these five minutes.
std::vector<Event> limit_change_events(const std::vector<StoredSample<CgroupSample>>& before, const Tick& tick,
                                       LimitChanges& told);

}  // namespace memoir
