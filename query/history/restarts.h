#pragma once

// Restarts of programs as events.

#include <vector>

#include "base/result.h"
#include "model/tick.h"
#include "store/reader.h"

namespace memoir::query {

// Maximum length of the range: a longer one has too many processes to read for each answer.
inline constexpr std::int64_t kMaxRestartsMs = 2 * kDayLengthMs;

// Returns the restarts by find_restarts() whose new process started in the range, in order.
Result<std::vector<Event>> load_restart_events(Reader& reader, Range range);

}  // namespace memoir::query
