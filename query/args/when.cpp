#include "query/args/when.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "config/config.h"
#include "query/args/times.h"

namespace memoir::query {
namespace {

std::optional<Error> contradiction(const Options& options) {
  const bool ends = options.from.has_value() || options.to.has_value();
  const bool range = ends || options.last.has_value() || options.day.has_value();
  if (options.at && range) return malformed("--at is one time: it cannot go with --from, --to, --last or --day");
  if (options.day && (ends || options.last))
    return malformed("--day is a range of its own: leave out --from, --to, --last");
  if (options.from && options.last) return malformed("--from and --last both set the start of the range: use one");
  return std::nullopt;
}

// Puts the name of the option before the error message about its value.
Error of_option(Option option, const Error& error) {
  return malformed(fmt::format("{}: {}", option_text(option).name, error.message));
}

Result<std::int64_t> time_of(Option option, const std::string& text, std::int64_t now_ms, Zone zone) {
  Result<std::int64_t> time = (option == Option::to ? parse_end : parse_time)(text, now_ms, zone);
  return time ? time : of_option(option, time.error());
}

// Returns the names of the options that set the range: "--from, --to".
std::string given(const Options& options) {
  std::string names;
  for (const auto& [option, text] : {std::pair{Option::from, &options.from},
                                     {Option::to, &options.to},
                                     {Option::last, &options.last},
                                     {Option::day, &options.day}}) {
    if (*text) names += fmt::format("{}{}", names.empty() ? "" : ", ", option_text(option).name);
  }
  return names;
}

Result<Range> resolve_day(const std::string& text, std::int64_t now_ms, Zone zone) {
  const Result<Day> day = parse_day(text, now_ms, zone);
  if (!day) return of_option(Option::day, day.error());
  return Range{day->begin_ms, day->end_ms - 1};
}

// Returns the latest time that can be recorded: now, or the last tick if the recorder's clock was ahead.
std::int64_t latest(Recorded recorded, std::int64_t now_ms) {
  return std::max(now_ms, recorded.last_ms);
}

Result<Range> resolve_range(const Options& options, Recorded recorded, std::int64_t now_ms) {
  Range range{recorded.first_ms, recorded.last_ms};
  if (options.to) {
    range.to_ms = TRY(time_of(Option::to, *options.to, now_ms, options.zone));
  }
  if (options.from) {
    range.from_ms = TRY(time_of(Option::from, *options.from, now_ms, options.zone));
    // If --from is after the last tick, the range is extended up to now and has no data.
    if (!options.to && range.from_ms > range.to_ms) range.to_ms = latest(recorded, now_ms);
  }
  if (options.last) {
    const auto length = parse_duration(*options.last);
    if (!length) return of_option(Option::last, length.error());
    range.from_ms = std::min(range.to_ms, latest(recorded, now_ms)) - length->count();
  }
  return range;
}

}  // namespace

Result<When> resolve_when(const Options& options, Recorded recorded, std::int64_t now_ms) {
  if (const auto error = contradiction(options)) return *error;
  if (options.at) {
    const std::int64_t at = TRY(time_of(Option::at, *options.at, now_ms, options.zone));
    return When{at, std::nullopt};
  }
  if (!options.from && !options.to && !options.last && !options.day) return When{};
  const Range range =
      TRY(options.day ? resolve_day(*options.day, now_ms, options.zone) : resolve_range(options, recorded, now_ms));
  if (range.from_ms > range.to_ms) {
    return malformed(fmt::format("{}: the range ends ({}) before it starts ({})", given(options),
                                 format_time(range.to_ms, options.zone), format_time(range.from_ms, options.zone)));
  }
  if (range.from_ms == range.to_ms)
    return malformed(given(options) + ": the range has no length; use --at T for one time");
  // A range that reaches into the future, such as today, ends now.
  Range asked = range;
  const std::int64_t latest_ms = latest(recorded, now_ms);
  if (asked.from_ms <= latest_ms) asked.to_ms = std::min(asked.to_ms, latest_ms);
  return When{std::nullopt, asked};
}

Result<Range> parse_against(const std::string& text, Range range, std::int64_t now_ms, Zone zone) {
  const Day own = TRY(parse_day(fmt::format("@{}", range.from_ms), now_ms, zone));
  std::int64_t earlier_ms = 0;
  if (text.starts_with('-') || text.ends_with(" ago")) {
    const auto then = parse_time(text, now_ms, zone);
    if (!then) return of_option(Option::against, then.error());
    earlier_ms = now_ms - *then;
    // Whole days are calendar days: the time of day stays the same across a clock change.
    if (earlier_ms > 0 && earlier_ms % kDayMs == 0)
      earlier_ms = own.begin_ms - day_before(own, static_cast<int>(earlier_ms / kDayMs), zone).begin_ms;
  } else {
    const Result<Day> day = parse_day(text, now_ms, zone);
    if (!day) return of_option(Option::against, day.error());
    earlier_ms = own.begin_ms - day->begin_ms;
  }
  if (earlier_ms == 0) return malformed("--against names the same range; give another day, or an offset such as -7d");
  return Range{range.from_ms - earlier_ms, range.to_ms - earlier_ms};
}

Result<std::optional<std::int64_t>> parse_step(const Options& options, std::string_view why) {
  if (!options.step) return std::optional<std::int64_t>();
  const auto step = parse_duration(*options.step);
  if (!step) return of_option(Option::step, step.error());
  if (step->count() <= 0) return malformed(fmt::format("--step: {}", why));
  return std::optional<std::int64_t>(step->count());
}

Range range_asked(const When& when, std::int64_t last_tick_ms) {
  if (when.at_ms) return {*when.at_ms, *when.at_ms};
  return when.range.value_or(Range{last_tick_ms - kDayMs, last_tick_ms});
}

Range range_or_last(const When& when, Recorded recorded, std::int64_t length_ms) {
  if (when.range) return *when.range;
  return {std::max(recorded.last_ms - length_ms, recorded.first_ms), recorded.last_ms};
}

}  // namespace memoir::query
