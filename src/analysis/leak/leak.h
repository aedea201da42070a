#pragma once

// Does it leak? A verdict on one series of memory (or of descriptors, of processes), from buckets as the store rolls
// them up. Pure: no SQL, no I/O, no clock.
//
// What leaks is not the curve but its floor: after each collection, each request, each night, a program that leaks
// comes back to a little more than before. So the series is cut into blocks, the floor of each block is taken, and a
// line is laid through the floors of the longest window that ends now and passes every gate. Each gate keeps one kind
// of innocent growth out (noise, a random walk, a step after a deployment, a cache that fills, a cycle longer than the
// window, the day's rise); each is told with its value and its threshold, so that a verdict can be checked by hand.
//
// Units: values in the metric's own (KiB, or a count), times in epoch milliseconds, slopes per day.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

struct LeakBucket {
  std::int64_t from_ms = 0;
  std::int64_t covered_ms = 0;  // of LeakSeries::width_ms; buckets covered by less than half are not judged
  double min = 0;
  double mean = 0;  // weighted by time
  double max = 0;
  std::int32_t life = 0;  // a new number after each restart
};

// In order of time. Of one hour in which a restart fell there are two buckets, one of each life.
struct LeakSeries {
  std::vector<LeakBucket> buckets;
  std::int64_t width_ms = 0;
};

enum class LeakUnit : std::uint8_t {
  kib,
  count,    // processes, descriptors: 0 is a value. Of memory 0 is what a dead process holds, and is not judged
  unknown,  // of a series from elsewhere
};

// What growth is worth a word: at least `least_growth`, and at least this share of the level.
struct LeakMetric {
  std::string name = "anon+swap";
  double least_growth = 4096;
  double least_share = 0.05;
  LeakUnit unit = LeakUnit::kib;
};

// What it would run into: a cgroup's memory.max, the machine's memory, RLIMIT_NOFILE. `room` is what is left of it now,
// as far as it can be known: kernel memory that can be given up is not told apart, and counters run in batches.
struct LeakLimit {
  std::string name;
  double room = 0;
  double error = 0;  // of the room, at either side
};

struct LeakSettings {
  // Every length of time in the analysis is a multiple of it. Shorter for tests and for machines that live fast.
  std::int64_t hour_ms = 3'600'000;
};

enum class LeakVerdict : std::uint8_t {
  // leaks
  steady,           // the floor rises all the time
  step,             // it rises in a few jumps, again and again
  sawtooth_floor,   // what is left after each collection rises
  across_restarts,  // each life leaks
  count,            // ever more processes, zombies, descriptors
  // not leaks
  plateaued,            // grew, and stopped
  warm_up,              // grows ever more slowly
  warm_up_per_restart,  // so in each life
  level_shift,          // a step or a few, and level between them
  within_envelope,      // rises, but was as high before
  diurnal,              // the day's rise
  below_minimum,        // rises, but too little to matter or to stand out of its noise
  contained,            // the members of a pool grow, and are replaced before it shows in the sum
  scale_out,            // more members, none of them growing
  noise,                // no trend
  insufficient,         // too little history
};

std::string_view to_string(LeakVerdict verdict);
bool is_leak(LeakVerdict verdict);

struct LeakGate {
  std::string name;  // "trend", "drift" …
  double value = 0;
  double threshold = 0;  // passes if value >= threshold
  bool passed = false;
  std::string meaning;  // what it asks, in plain words
};

struct LeakInterval {
  double value = 0;
  double lower = 0;
  double upper = 0;
};

struct LeakPoint {
  std::int64_t at_ms = 0;
  double value = 0;
};

struct LeakExhaustion {
  std::string limit;
  double room = 0;  // that is left of it
  // From the end of the series. The ends hold the slope's interval, the error of the room and how far readings stray
  // from the line; the farther end is without bound where the slope's lower end is not above 0 (infinity). Absent:
  // farther away than ten times what was watched, so that no number would be honest.
  std::optional<LeakInterval> in_ms;
};

struct LeakFinding {
  LeakVerdict verdict = LeakVerdict::insufficient;
  bool leak = false;
  double confidence = 0;          // 0 to 100: a score of how far the gates were passed, no probability. 0 if no leak
  bool confirmed = false;         // it was a leak a day ago, too
  bool short_history = false;     // less than a day: it grows, but no day was seen whole
  LeakInterval slope_per_day;     // with its 90 % interval
  std::int64_t since_ms = 0;      // when the growth began, or the window
  std::int64_t until_ms = 0;      // end of the series
  double grown_by = 0;            // over that time, along the line
  double level = 0;               // the floor now
  std::int64_t history_ms = 0;    // of the current life
  std::int64_t recorded_ms = 0;   // of that, without its gaps
  std::int64_t needed_ms = 0;     // of one life, to be judged at all
  std::int64_t window_ms = 0;     // that was judged
  std::int64_t lives = 0;         // seen
  std::vector<LeakPoint> floors;  // of the window, as recorded
  LeakPoint line_from;            // the fitted line
  LeakPoint line_to;
  LeakInterval strays;           // how high above the line readings come (95 % of them); the ends: of the last bucket
  std::vector<LeakPoint> steps;  // jumps that were taken out: when, and how much
  std::vector<LeakGate> gates;
  std::optional<LeakExhaustion> exhaustion;
  std::string reason;                     // one sentence
  std::vector<std::string> would_change;  // what would change the verdict, a sentence each
};

// Limits: the nearest one decides.
LeakFinding judge_leak(const LeakSeries& series, const LeakMetric& metric, const LeakSettings& settings = {},
                       const std::vector<LeakLimit>& limits = {});

}  // namespace memoir
