#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "query/args/times.h"
#include "query/args/when.h"

namespace memoir::fuzz {
namespace {

using query::Zone;

constexpr std::int64_t kNow = 1'795'166'412'000;
constexpr query::Recorded kRecorded{kNow - 7 * query::kDayMs, kNow};

void require_time(std::string_view text, Zone zone) {
  const auto time = query::parse_time(text, kNow, zone);
  if (!time) return require_shown(time.error());
  require(query::parse_end(text, kNow, zone).ok(), "a valid time can be the end of a range");
}

void require_day(std::string_view text, Zone zone) {
  const auto day = query::parse_day(text, kNow, zone);
  if (!day) return require_shown(day.error());
  require(day->begin_ms < day->end_ms && day->end_ms - day->begin_ms <= 2 * query::kDayMs, "a day is not empty");
  require(query::day_before(*day, 1, zone).end_ms == day->begin_ms, "the day before ends where the day begins");
}

// Uses the lines of the text as the options --at, --from, --to, --last, --day and --step.
void require_range(std::string_view text) {
  query::Options options;
  options.zone = Zone::utc;
  for (auto* option : {&options.from, &options.to, &options.last, &options.day, &options.at, &options.step}) {
    const std::string_view line = cut_line(text);
    if (!line.empty()) *option = line;
  }
  const auto when = query::resolve_when(options, kRecorded, kNow);
  if (!when) return require_shown(when.error());
  require(!when->range || when->range->from_ms <= when->range->to_ms, "a range does not end before it begins");
  const auto step = query::parse_step(options, "it is nothing");
  require(!step.ok() || !*step || **step > 0, "a step is positive");
}

}  // namespace

void asked_times(std::string_view text) {
  require_range(text);
  const std::string_view line = cut_line(text);
  for (const Zone zone : {Zone::utc, Zone::local}) {
    require_time(line, zone);
    require_day(line, zone);
  }
}

}  // namespace memoir::fuzz
