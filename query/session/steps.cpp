#include "query/session/steps.h"

#include <algorithm>

#include "query/history/tier.h"
#include "query/state/state.h"

namespace memoir::query {
namespace {

using Time = Result<std::optional<std::int64_t>>;

Result<Tier> tier_at(const Context& context, std::int64_t at_ms) {
  return tier_of(context, {at_ms, at_ms}, Reads::all);
}

Time tick_after(Reader& reader, std::int64_t at_ms) {
  const auto tick = TRY(reader.tick_after(at_ms));
  return tick ? std::optional(tick->begin.wall_ms) : std::nullopt;
}

// Returns the first recorded time at or after `at_ms`, which is before the last tick.
Result<std::int64_t> recorded_after(const Context& context, std::int64_t at_ms) {
  const Coverage coverage = TRY(context.reader.coverage({at_ms, context.file.last_tick_ms}));
  const bool in_gap = !coverage.gaps.empty() && coverage.gaps.front().from_ms <= at_ms;
  return in_gap ? coverage.gaps.front().to_ms : at_ms;
}

// Returns the end of the bucket that contains `at_ms`, or the first kept tick in it.
Time time_in_bucket(const Context& context, std::int64_t at_ms) {
  const Tier tier = TRY(tier_at(context, at_ms));
  if (!holds_groups(tier)) return tick_after(context.reader, at_ms - 1);
  const std::int64_t end_ms = std::min(bucket_around(tier, at_ms).to_ms - 1, context.file.last_tick_ms);
  const Tier at_end = TRY(tier_at(context, end_ms));
  return at_end == tier ? Time(std::optional(end_ms)) : tick_after(context.reader, at_ms - 1);
}

}  // namespace

Result<std::optional<std::int64_t>> time_after(const Context& context, std::int64_t at_ms) {
  const FileInfo& file = context.file;
  if (file.ticks == 0 || at_ms >= file.last_tick_ms) return std::optional<std::int64_t>();
  if (at_ms < file.first_tick_ms) return time_in_bucket(context, file.first_tick_ms);
  const Tier tier = TRY(tier_at(context, at_ms));
  if (!holds_groups(tier)) return tick_after(context.reader, at_ms);
  const std::int64_t recorded_ms = TRY(recorded_at(context, at_ms));
  const std::int64_t until_ms = bucket_around(tier, recorded_ms).to_ms;
  if (until_ms > file.last_tick_ms) return std::optional<std::int64_t>();
  return time_in_bucket(context, TRY(recorded_after(context, until_ms)));
}

Result<std::optional<std::int64_t>> time_before(const Context& context, std::int64_t at_ms) {
  const FileInfo& file = context.file;
  if (file.ticks == 0 || at_ms <= file.first_tick_ms) return std::optional<std::int64_t>();
  std::int64_t before_ms = std::min(at_ms - 1, file.last_tick_ms);
  const Tier tier = TRY(tier_at(context, at_ms));
  if (holds_groups(tier)) {
    const std::int64_t recorded_ms = TRY(recorded_at(context, at_ms));
    before_ms = bucket_around(tier, recorded_ms).from_ms - 1;
    if (before_ms < file.first_tick_ms) return std::optional<std::int64_t>();
  } else if (const auto tick = TRY(context.reader.tick_at(before_ms))) {
    return std::optional(tick->begin.wall_ms);
  }
  const std::int64_t recorded_ms = TRY(recorded_at(context, before_ms));
  return std::optional(recorded_ms);
}

}  // namespace memoir::query
