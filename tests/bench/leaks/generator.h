#pragma once

// Memory histories with known truth: a class of programs over 30 days, one reading per 5 minutes. Every number comes
// from a seed by portable arithmetic, so that a seed gives the same history everywhere.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/leak/leak.h"
#include "analysis/leak/samples.h"

namespace memoir::bench {

// Seeds and parameters are split: each parameter's range is divided into ten stripes; development draws from the even
// ones and the test from the odd ones. Results are reported on other parameters than those used for tuning.
enum class Split { development, test };

class Draw {
 public:
  Draw(std::uint64_t seed, Split split);

  double unit();    // [0, 1)
  double normal();  // mean 0, deviation 1
  double exponential(double mean);
  double parameter(double low, double high);      // even or odd stripes
  double log_parameter(double low, double high);  // the same by logarithm
  bool chance(double part) { return unit() < part; }

 private:
  std::uint64_t state_;
  Split split_;
};

// Memory of a pool's members besides the sum, for classes of pools.
struct PoolCase {
  std::vector<LeakSample> count;
  std::vector<std::vector<LeakSample>> members;
};

struct Case {
  std::vector<LeakSample> samples;
  LeakMetric metric;
  double growth = 0;                    // of the level, over the leak; 0 for none
  std::optional<double> slope_per_day;  // the truth, where the growth is a straight line
  std::int64_t onset_ms = 0;            // start of the leak
  double level = 0;
  std::optional<PoolCase> pool;
};

struct CaseClass {
  std::string name;
  bool leak = false;
  bool steady = false;  // its slope is judged
  std::function<Case(Draw&)> make;
  std::string expected = {};  // the verdict, where the class is about telling it apart; empty: leak or not is enough
};

const std::vector<CaseClass>& case_classes();

// A linear leak of this growth over 30 days, for the sweep.
Case make_linear(Draw& draw, double growth);

inline constexpr std::int64_t kSampleMs = 300'000;
inline constexpr std::int64_t kDays = 30;
inline constexpr std::int64_t kHourMs = 3'600'000;
inline constexpr std::int64_t kDayMs = 24 * kHourMs;
inline constexpr std::int64_t kStartMs = 1'790'000'000'000 - 1'790'000'000'000 % kDayMs;

}  // namespace memoir::bench
