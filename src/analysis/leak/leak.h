#pragma once

// Judges whether one series (memory, descriptors or processes) leaks, from buckets as the store rolls them up. Pure: no
// SQL, no I/O, no clock. A life is the time from one restart of the program to the next.
//
// A leak shows in the floor of a curve: after each collection, request or night the program returns to a slightly
// higher level. The series is divided into blocks, and the floor of each block is computed. A line is fitted through
// the floors of the longest window that ends now and passes every gate. Each gate excludes one kind of harmless growth:
// noise, a random walk, a step after a deployment, a filling cache, a cycle longer than the window, the daily rise.
// Each gate is reported with its value and threshold, so that a verdict can be checked by hand.
//
// Units: values are in KiB, or counts, depending on the metric; times are in epoch milliseconds; slopes are per day.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

struct LeakBucket {
  std::int64_t from_ms = 0;
  std::int64_t covered_ms = 0;  // part of width_ms with values; a bucket with less than half is not judged
  double min = 0;
  double mean = 0;  // weighted by time
  double max = 0;
  std::int32_t life = 0;  // number of the life that the values belong to
};

// Buckets in time order. An hour with a restart has two buckets, one for each life.
struct LeakSeries {
  std::vector<LeakBucket> buckets;
  std::int64_t width_ms = 0;
};

enum class LeakUnit : std::uint8_t {
  kib,
  count,    // processes or descriptors, which may be 0; memory of 0 belongs to an exited process and is not judged
  unknown,  // the unit of the series is not known
};

// The growth that is significant: at least `min_growth`, and at least `min_share` of the level.
struct LeakMetric {
  std::string name = "anon+swap";
  double min_growth = 4096;
  double min_share = 0.05;
  LeakUnit unit = LeakUnit::kib;
};

// A limit that the series may reach: a cgroup's memory.max, the machine's memory, RLIMIT_NOFILE. `room` is the current
// headroom. It is approximate, because reclaimable kernel memory is not known separately, and counters are batched.
struct LeakLimit {
  std::string name;
  double room = 0;
  double error = 0;  // possible error of the headroom, in both directions
  // Value of the series when the headroom was read; nullopt if unknown, so that the last bucket is used instead.
  std::optional<double> reading = {};
};

struct LeakSettings {
  // Length of an hour in the analysis. All durations in the analysis are multiples of it. Tests and short-lived systems
  // use a shorter one.
  std::int64_t hour_ms = 3'600'000;
};

enum class LeakVerdict : std::uint8_t {
  // leaks
  steady,           // the floor rises continuously
  step,             // it rises in a few repeated jumps
  sawtooth_floor,   // the remainder after each collection rises
  across_restarts,  // each life leaks
  count,            // growing number of processes, zombies or descriptors
  // not leaks
  plateaued,            // it grew, and stopped
  warm_up,              // it grows more and more slowly
  warm_up_per_restart,  // grows more and more slowly in each run
  level_shift,          // it rose in one or a few steps, and is level between them
  within_envelope,      // it rises, but was as high before
  diurnal,              // it rises as it does every day
  below_minimum,        // it rises, but too little to be significant or to exceed its noise
  contained,            // members of a pool grow, but are replaced before the sum shows it
  scale_out,            // there are more members, and none of them grows
  noise,                // it has no trend
  insufficient,         // there is too little history
};

std::string_view to_string(LeakVerdict verdict);
bool is_leak(LeakVerdict verdict);

struct LeakGate {
  std::string name;  // "trend", "drift" …
  double value = 0;
  double threshold = 0;  // passes if value >= threshold
  bool passed = false;
  std::string meaning;  // the tested condition in plain words
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

struct LeakReading {
  double day = 0;  // relative to the end of the series, so <= 0
  double value = 0;
};

// The basis of a forecast.
struct LeakOutlook {
  LeakInterval slope;        // current slope, per day of the analysis; see find_slope()
  bool accelerates = false;  // the recent part is clearly steeper
  // The highest reading of each bucket of the last day. A forecast repeats them, raised by the growth. A short history
  // shows no daily cycle, so there is only one reading, the usual peak.
  std::vector<LeakReading> cycle;
  double cycle_days = 0;  // length of the cycle; 0: the reading applies at any time
  double stray = 0;       // usual deviation of readings from the cycle
  LeakInterval reading;   // mean, lowest and highest reading of the last bucket
};

struct LeakExhaustion {
  std::string limit;
  double room = 0;           // remaining headroom
  bool accelerates = false;  // the growth has become faster
  // Time from the end of the series until the limit is reached. Its bounds follow from the slope's interval, the error
  // of the headroom and the usual deviation of readings. The upper bound is infinite if the slope's lower bound is not
  // above 0. nullopt if the time exceeds ten times the observed time, because such a number would be unreliable.
  std::optional<LeakInterval> in_ms;
};

// Number of right verdicts per 100 leak verdicts. It was measured on series with known truth, half of which leak.
struct LeakWorth {
  std::int64_t right = 0;
  std::string_view measured_on;
};

struct LeakFinding {
  LeakVerdict verdict = LeakVerdict::insufficient;
  bool leak = false;
  double confidence = 0;  // how clearly the gates were passed, 0 to 100; not a probability; 0 if it is not a leak
  std::optional<LeakWorth> worth;  // nullopt if it is not a leak
  bool confirmed = false;          // it was already a leak a day ago
  bool short_history = false;      // the current life is shorter than a day
  LeakInterval slope_per_day;      // includes its 90 % interval
  std::int64_t since_ms = 0;       // start of the growth, or of the window
  std::int64_t until_ms = 0;       // end of the series
  double grown_by = 0;             // growth since since_ms, by the line
  double level = 0;                // the current floor
  std::int64_t history_ms = 0;     // length of the current life
  std::int64_t recorded_ms = 0;    // part of history_ms without gaps
  std::int64_t needed_ms = 0;      // minimum length of a life to be judged
  std::int64_t window_ms = 0;      // length of the judged part
  std::int64_t lives = 0;          // number of lives in the series
  std::vector<LeakPoint> floors;   // floors of the window, as recorded
  LeakPoint line_from;             // the fitted line
  LeakPoint line_to;
  LeakOutlook outlook;           // basis of the forecast; only set for a leak
  std::vector<LeakPoint> steps;  // removed jumps: time and size
  std::vector<LeakGate> gates;
  std::optional<LeakExhaustion> exhaustion;
  std::string reason;                     // one sentence, starting in lower case
  std::vector<std::string> would_change;  // one sentence for each thing that would change the verdict
};

// Judges a series. Only the limit that is reached first is reported.
LeakFinding judge_leak(const LeakSeries& series, const LeakMetric& metric, const LeakSettings& settings = {},
                       const std::vector<LeakLimit>& limits = {});

}  // namespace memoir
