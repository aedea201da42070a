#pragma once

// The time or range that --at, --from, --to, --last and --day ask for. Pure.

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "query/args/options.h"
#include "store/types.h"

namespace memoir::query {

struct When {
  std::optional<std::int64_t> at_ms;  // --at
  std::optional<Range> range;         // any of the others; neither: the command's default
};

// What there is to choose from: --to defaults to the last tick, --from (with --to alone) to the first.
struct Recorded {
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
};

// Contradictions, unreadable times and ranges that end before they begin are malformed.
Result<When> resolve_when(const Options& options, Recorded recorded, std::int64_t now_ms);

// --step, if it is given; `why` is what is wrong with a width of nothing.
Result<std::optional<std::int64_t>> parse_step(const Options& options, std::string_view why);

inline constexpr std::int64_t kLastHourMs = 60 * 60 * 1000;

// The range asked, or the `length_ms` before the last tick.
Range range_or_last(const When& when, Recorded recorded, std::int64_t length_ms);

}  // namespace memoir::query
