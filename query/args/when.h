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
  std::optional<Range> range;         // any of the others; without both: the command's default
};

// The recorded time: --to defaults to the last tick, --from (with --to only) to the first.
struct Recorded {
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
};

// Contradictions, unreadable times and ranges that end before they start are malformed.
Result<When> resolve_when(const Options& options, Recorded recorded, std::int64_t now_ms);

// --against: the range that `range` is compared with: of the same length, and not the same. A day is a whole local day.
Result<Range> parse_against(const std::string& text, Range range, std::int64_t now_ms, Zone zone);

// --step, if given; `why` explains the error of a width of 0.
Result<std::optional<std::int64_t>> parse_step(const Options& options, std::string_view why);

inline constexpr std::int64_t kLastHourMs = 60 * 60 * 1000;

// Returns the requested range or time; without either the day before the last tick.
Range range_asked(const When& when, std::int64_t last_tick_ms);

// Returns the requested range, or the `length_ms` before the last tick.
Range range_or_last(const When& when, Recorded recorded, std::int64_t length_ms);

}  // namespace memoir::query
