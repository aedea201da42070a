#pragma once

// Building blocks of the classes.

#include <functional>
#include <vector>

#include "bench/leaks/generator.h"

namespace memoir::bench {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kHours = kDays * 24;

// Multiplicative AR(1) noise with this standard deviation; `rho` is the correlation from one sample to the next.
class Noise {
 public:
  Noise(Draw& draw, double rho, double sigma) : draw_(draw), rho_(rho), sigma_(sigma), value_(sigma * draw.normal()) {}
  // Draws typical parameters: rho from 0.90 to 0.995, deviation from 0.3 to 3 %.
  explicit Noise(Draw& draw) : Noise(draw, draw.parameter(0.90, 0.995), draw.log_parameter(0.003, 0.03)) {}
  double next();

 private:
  Draw& draw_;
  double rho_;
  double sigma_;
  double value_;
};

// A value by the hour since the start.
using Shape = std::function<double(double hour)>;

struct Signal {
  double hours = kHours;
  Shape kib;  // memory without noise
  bool noisy = true;
  double noise_level = 0;                // factor of the noise; 0: the noise is relative to the shape
  std::function<bool(double)> recorded;  // false at hours without samples; in addition, 1 % of all samples are missing
  std::function<int(double)> life;
};

std::vector<LeakSample> sample(Draw& draw, const Signal& signal);

// A shape on a drawn level, without a leak.
Case innocent(Draw& draw, const Shape& shape, Signal signal = {});

// Draws a level from 60 to 4000 MB.
double draw_level(Draw& draw);
// Draws a growth from 12 to 200 % of the level.
double draw_growth(Draw& draw);

// A shape that rises from 0 to 1 and falls back, every day or on working days. Starts at a random hour.
Shape daily(Draw& draw);
Shape weekly(Draw& draw);

// Rises from 0 to 1 and falls back in each cycle.
Shape sawtooth(Draw& draw, double low_hours, double high_hours);

std::vector<CaseClass> leak_classes();
std::vector<CaseClass> filling_classes();  // classes for the forecasts
std::vector<CaseClass> kernel_and_count_classes();
std::vector<CaseClass> calm_classes();
std::vector<CaseClass> load_classes();
std::vector<CaseClass> pool_classes();

}  // namespace memoir::bench
