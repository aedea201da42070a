#pragma once

// Memory histories with known truth: programs of a class over 30 days, with a reading every 5 minutes. Every number
// follows from a seed by portable arithmetic, so that a seed gives the same history on all machines.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/leak/leak.h"
#include "analysis/leak/samples.h"

namespace memoir::bench {

// Separates the seeds and parameters used for tuning from those of the reported results. Each parameter's range has ten
// stripes: development draws from the even ones, the test from the odd ones.
enum class Split { development, test };

class Draw {
 public:
  Draw(std::uint64_t seed, Split split);

  double unit();    // [0, 1)
  double normal();  // mean 0, standard deviation 1
  double exponential(double mean);
  double parameter(double low, double high);      // a number from the stripes of this split
  double log_parameter(double low, double high);  // the same, with stripes on a logarithmic scale
  bool chance(double part) { return unit() < part; }

 private:
  std::uint64_t state_;
  Split split_;
};

// Memory of each member of a pool, for classes of pools.
struct PoolCase {
  std::vector<LeakSample> count;
  std::vector<std::vector<LeakSample>> members;
};

struct Case {
  std::vector<LeakSample> samples;
  LeakMetric metric;
  double growth = 0;                    // growth over the leak as a share of the level; 0 without a leak
  std::optional<double> slope_per_day;  // the true slope, if the growth is a straight line
  std::int64_t onset_ms = 0;            // start of the leak
  double level = 0;
  std::optional<PoolCase> pool;
};

struct CaseClass {
  std::string name;
  bool leak = false;
  bool steady = false;  // the slope is judged
  std::function<Case(Draw&)> make;
  std::string expected = {};  // the expected verdict, if more than "leak or not" is judged; otherwise empty
};

const std::vector<CaseClass>& case_classes();

// A linear leak that grows by this share over 30 days, for the sweep.
Case make_linear(Draw& draw, double growth);

inline constexpr std::int64_t kSampleMs = 300'000;
inline constexpr std::int64_t kDays = 30;
inline constexpr std::int64_t kHourMs = 3'600'000;
inline constexpr std::int64_t kDayMs = 24 * kHourMs;
inline constexpr std::int64_t kStartMs = 1'790'000'000'000 - 1'790'000'000'000 % kDayMs;

}  // namespace memoir::bench
