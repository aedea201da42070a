#pragma once

// What a file of --textfile tells the write that replaces it: the tick that it was of, and the leaks, which are judged
// again when they are an hour old. Its folder may be another user's: whatever is in it, a line that we would not have
// written tells nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/commands/export/fleet.h"

namespace memoir::query {

struct LastWrite {
  std::optional<std::int64_t> tick_ms;
  FleetLeaks leaks;
};

// Of the series that begin with these labels.
LastWrite last_write(std::string_view text, const std::string& labels);

// As if it had been written when its leaks were judged: time to exhaustion is told as of the tick.
void as_judged(LastWrite& last);

}  // namespace memoir::query
