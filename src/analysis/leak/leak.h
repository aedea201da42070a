#pragma once

// Leak verdict on one series (memory, descriptors or processes), from buckets as the store rolls them up. Pure: no SQL,
// no I/O, no clock.
//
// A leak shows in the floor of a curve: after each collection, request or night the program returns to a slightly
// higher level. The series is cut into blocks, and the floor of each block is computed. A line is fitted through the
// floors of the longest window that ends now and passes every gate. Each gate excludes one kind of harmless growth:
// noise, a random walk, a step after a deployment, a filling cache, a cycle longer than the window, the daily rise.
// Each gate is reported with its value and threshold, so that a verdict can be checked by hand.
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
  std::int64_t covered_ms = 0;  // of LeakSeries::width_ms; buckets less than half covered are not judged
  double min = 0;
  double mean = 0;  // weighted by time
  double max = 0;
  std::int32_t life = 0;  // a new number after each restart
};

// In time order. An hour with a restart has two buckets, one of each life.
struct LeakSeries {
  std::vector<LeakBucket> buckets;
  std::int64_t width_ms = 0;
};

enum class LeakUnit : std::uint8_t {
  kib,
  count,    // processes, descriptors: 0 is a value. Memory of 0 belongs to an exited process and is not judged
  unknown,  // of a series from another source
};

// The growth that matters: at least `min_growth`, and at least this share of the level.
struct LeakMetric {
  std::string name = "anon+swap";
  double min_growth = 4096;
  double min_share = 0.05;
  LeakUnit unit = LeakUnit::kib;
};

// A limit that the series may reach: a cgroup's memory.max, the machine's memory, RLIMIT_NOFILE. `room` is the current
// headroom. It is approximate: reclaimable kernel memory is not known separately, and counters are batched.
struct LeakLimit {
  std::string name;
  double room = 0;
  double error = 0;  // of the headroom, in both directions
  // Value of the series when the headroom was read; nullopt if unknown, then about that of its last bucket.
  std::optional<double> reading = {};
};

struct LeakSettings {
  // All durations in the analysis are multiples of it. Shorter in tests and for short-lived systems.
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
  plateaued,            // grew, and stopped
  warm_up,              // grows more and more slowly
  warm_up_per_restart,  // grows more and more slowly in each run
  level_shift,          // one or a few steps, level between them
  within_envelope,      // rises, but was as high before
  diurnal,              // the daily rise
  below_minimum,        // rises, but too little to matter or within its noise
  contained,            // the members of a pool grow, but are replaced before the sum shows it
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
  double day = 0;  // before the end of the series, so <= 0
  double value = 0;
};

// What the forecast of a finding starts from.
struct LeakOutlook {
  LeakInterval slope;  // now, per day of the analysis: that of the recent part as far as it differs from the whole
  bool accelerates = false;  // the recent part is clearly steeper
  // Readings that repeat themselves, higher by the growth in the time between: the highest of each bucket of the last
  // day. Without two days the usual peak.
  std::vector<LeakReading> cycle;
  double cycle_days = 0;  // 0: always
  double stray = 0;       // how far readings are usually from that
  LeakInterval reading;   // of the last bucket: mean, lowest, highest
};

struct LeakExhaustion {
  std::string limit;
  double room = 0;           // remaining headroom
  bool accelerates = false;  // the growth has become faster
  // Time from the end of the series until the limit is reached. Its bounds follow from the slope's interval, the error
  // of the headroom and the usual deviation of readings. The upper bound is infinite if the slope's lower bound is not
  // above 0. nullopt if farther away than ten times the observed time, where no number would be honest.
  std::optional<LeakInterval> in_ms;
};

// How many of 100 verdicts of this kind were right on series of known truth, half of which leak.
struct LeakWorth {
  std::int64_t right = 0;
  std::string_view measured_on;
};

struct LeakFinding {
  LeakVerdict verdict = LeakVerdict::insufficient;
  bool leak = false;
  double confidence = 0;           // 0 to 100: how clearly the gates were passed; not a probability. 0 without a leak
  std::optional<LeakWorth> worth;  // of a leak
  bool confirmed = false;          // it was already a leak a day ago
  bool short_history = false;      // growing for less than a day; no full day was observed
  LeakInterval slope_per_day;      // with its 90 % interval
  std::int64_t since_ms = 0;       // start of the growth, or of the window
  std::int64_t until_ms = 0;       // end of the series
  double grown_by = 0;             // growth since since_ms, along the line
  double level = 0;                // the floor now
  std::int64_t history_ms = 0;     // of the current life
  std::int64_t recorded_ms = 0;    // of that, without its gaps
  std::int64_t needed_ms = 0;      // minimum of one life to be judged
  std::int64_t window_ms = 0;      // judged part
  std::int64_t lives = 0;          // number of lives
  std::vector<LeakPoint> floors;   // of the window, as recorded
  LeakPoint line_from;             // the fitted line
  LeakPoint line_to;
  LeakOutlook outlook;           // of a leak
  std::vector<LeakPoint> steps;  // removed jumps: time and size
  std::vector<LeakGate> gates;
  std::optional<LeakExhaustion> exhaustion;
  std::string reason;                     // one sentence
  std::vector<std::string> would_change;  // what would change the verdict, a sentence each
};

// The nearest of the limits is reported.
LeakFinding judge_leak(const LeakSeries& series, const LeakMetric& metric, const LeakSettings& settings = {},
                       const std::vector<LeakLimit>& limits = {});

}  // namespace memoir
