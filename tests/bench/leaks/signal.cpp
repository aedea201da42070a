#include "bench/leaks/signal.h"

#include <cmath>

namespace memoir::bench {

// The multiplier prevents consecutive seeds from giving shifted copies of one sequence.
Draw::Draw(std::uint64_t seed, Split split) : state_(seed * 0xd1342543de82ef95ULL), split_(split) {
  state_ ^= static_cast<std::uint64_t>(unit() * 0x1.0p53) << 11;
}

double Draw::unit() {  // splitmix64
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

double Draw::normal() {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log(1 - unit()));
  return radius * std::cos(2 * kPi * unit());
}

double Draw::exponential(double mean) {
  return -mean * std::log(1 - unit());
}

double Draw::parameter(double low, double high) {
  constexpr int kStripes = 10;
  const int own = static_cast<int>(unit() * (kStripes / 2)) * 2 + (split_ == Split::test ? 1 : 0);
  return low + (high - low) * (own + unit()) / kStripes;
}

double Draw::log_parameter(double low, double high) {
  return std::exp(parameter(std::log(low), std::log(high)));
}

double Noise::next() {
  value_ = rho_ * value_ + sigma_ * std::sqrt(1 - rho_ * rho_) * draw_.normal();
  return value_;
}

std::vector<LeakSample> sample(Draw& draw, const Signal& signal) {
  constexpr double kDropouts = 0.01;
  constexpr double kSampleHours = static_cast<double>(kSampleMs) / static_cast<double>(kHourMs);
  Noise noise(draw);
  std::vector<LeakSample> samples;
  const auto count = static_cast<std::int64_t>(signal.hours / kSampleHours);
  for (std::int64_t at = 0; at < count; ++at) {
    const double hour = static_cast<double>(at) * kSampleHours;
    const double deviation = signal.noisy ? noise.next() : 0;
    if (draw.chance(kDropouts) || (signal.recorded && !signal.recorded(hour))) continue;
    const double value = signal.kib(hour);
    const double base = signal.noise_level > 0 ? signal.noise_level : value;
    samples.push_back({kStartMs + at * kSampleMs, std::max(0.0, value + base * deviation), std::nullopt,
                       signal.life ? signal.life(hour) : 0});
  }
  return samples;
}

double draw_level(Draw& draw) {
  return 1024 * draw.log_parameter(60, 4000);
}

double draw_growth(Draw& draw) {
  return draw.log_parameter(0.12, 2.0);
}

Shape daily(Draw& draw) {
  const double phase = 24 * draw.unit();
  return [phase](double hour) { return 0.5 - 0.5 * std::cos(2 * kPi * (hour + phase) / 24); };
}

Shape weekly(Draw& draw) {
  const double start = 168 * draw.unit();
  return [start](double hour) {
    const double week = std::fmod(hour + start, 168);
    if (week >= 5 * 24) return 0.0;
    return 0.4 + 0.6 * (0.5 - 0.5 * std::cos(2 * kPi * week / 24));
  };
}

Shape sawtooth(Draw& draw, double low_hours, double high_hours) {
  const double cycle = draw.log_parameter(low_hours, high_hours);
  const double phase = cycle * draw.unit();
  return [cycle, phase](double hour) { return std::fmod(hour + phase, cycle) / cycle; };
}

Case innocent(Draw& draw, const Shape& shape, Signal signal) {
  Case made;
  made.level = draw_level(draw);
  const double level = made.level;
  signal.kib = [=](double hour) { return level * shape(hour); };
  signal.noise_level = level;
  made.samples = sample(draw, signal);
  return made;
}

const std::vector<CaseClass>& case_classes() {
  static const std::vector<CaseClass> all = [] {
    std::vector<CaseClass> classes;
    for (const auto& part :
         {leak_classes(), kernel_and_count_classes(), calm_classes(), load_classes(), pool_classes()}) {
      classes.insert(classes.end(), part.begin(), part.end());
    }
    return classes;
  }();
  return all;
}

}  // namespace memoir::bench
