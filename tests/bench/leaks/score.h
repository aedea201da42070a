#pragma once

// Runs the analysis and the baselines over the cases, and counts.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/leaks/generator.h"

namespace memoir::bench {

struct Rate {
  int hits = 0;
  int of = 0;
  void add(bool hit) {
    hits += hit ? 1 : 0;
    ++of;
  }
  double part() const { return of == 0 ? 0 : static_cast<double>(hits) / of; }
};

// The score of one class, or of several together.
struct Score {
  Rate alarms;                       // cases with an alarm at the end of the history
  Rate expected;                     // cases with the verdict that the class expects
  std::vector<double> slope_errors;  // error of the slope, relative to the truth
  Rate covered;                      // intervals that contain the truth
  std::vector<double> latency_days;  // time from the onset to the first alarm, evaluated daily
  std::vector<double> leaked_kib;    // amount leaked until the first alarm
  double days = 0;                   // evaluated days of calm classes
  int episodes = 0;                  // series of consecutive alarm days, of calm classes
  int confirmed = 0;                 // series of at least two days
  std::int64_t cpu_us = 0;
  int judged = 0;
};

struct Scores {
  std::vector<std::pair<CaseClass, Score>> classes;
  std::map<std::string, Rate> baseline_hits;    // alarms in leaking classes
  std::map<std::string, Rate> baseline_alarms;  // alarms in calm classes
  std::map<int, Rate> by_confidence;            // true alarms by confidence; the key is the confidence / 10
};

Draw draw_of(Split split, int seed);

Scores score_cases(Split split, int seeds);

// Alarms on straight leaks with this growth in percent.
struct SweepRow {
  double low = 0;
  double high = 0;
  Rate alarms;
};
std::vector<SweepRow> score_sweep(Split split, int seeds);

// How often the forecast is within a quarter of the truth, for straight leaks observed for 20 days that reach a limit
// within 30 days.
Rate score_exhaustion(Split split, int seeds);

// A wrongly judged case of a class, for --show.
struct Wrong {
  int seed = 0;
  LeakFinding found;
};
std::vector<Wrong> wrong_verdicts(const CaseClass& which, Split split, int seeds);

}  // namespace memoir::bench
