#pragma once

// Restarts of programs as events.

#include <vector>

#include "base/result.h"
#include "model/tick.h"
#include "store/reader.h"

namespace memoir::query {

// A longer range has too many processes to read for each answer.
inline constexpr std::int64_t kMaxRestartsMs = 2 * kDayLengthMs;

// By the starts of the new processes, in order; the rule is find_restarts().
Result<std::vector<Event>> load_restart_events(Reader& reader, Range range);

}  // namespace memoir::query
