#pragma once

// Data that an earlier --textfile file passes to the next write: its tick, and the leaks, which are judged again after
// an hour. The folder may belong to another user: lines that memoir would not have written are ignored.

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

// Reads the series that start with these labels.
LastWrite last_write(std::string_view text, const std::string& labels);

// Restores the time until a limit as it was when the leaks were judged. In the file, it counts from the file's tick.
void as_judged(LastWrite& last);

}  // namespace memoir::query
