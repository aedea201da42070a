#pragma once

// The time or range requested by --at, --from, --to, --last and --day. Pure.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "query/args/options.h"
#include "store/types.h"

namespace memoir::query {

struct When {
  std::optional<std::int64_t> at_ms;  // --at
  std::optional<Range> range;         // any of the other options; if both are unset, the command's default applies
};

// Times of the first and the last tick. The default of --to is the last tick. If only --to is given, --from is the
// first tick.
struct Recorded {
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
};

// Contradictions, unreadable times and ranges that end before they start are malformed.
Result<When> resolve_when(const Options& options, Recorded recorded, std::int64_t now_ms);

// Returns the range that --against compares `range` with: another range of the same length. If `text` names a day, the
// result is `range` moved by whole local days.
Result<Range> parse_against(const std::string& text, Range range, std::int64_t now_ms, Zone zone);

// Returns --step in ms; nullopt if it is not given. `why` is the error message for a width of 0.
Result<std::optional<std::int64_t>> parse_step(const Options& options, std::string_view why);

inline constexpr std::int64_t kLastHourMs = 60 * 60 * 1000;

// Returns the requested range or time; without either, the day up to the last tick.
Range range_asked(const When& when, std::int64_t last_tick_ms);

// Returns the requested range; without one, the last `length_ms` of the recording.
Range range_or_last(const When& when, Recorded recorded, std::int64_t length_ms);

}  // namespace memoir::query
