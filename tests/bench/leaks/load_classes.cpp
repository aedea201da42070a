// Programs without a leak, but with a varying load.

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/leaks/signal.h"

namespace memoir::bench {

namespace {

Case by_day(Draw& draw) {
  const double size = draw.parameter(0.1, 0.4);
  const Shape day = daily(draw);
  return innocent(draw, [=](double hour) { return 1 + size * day(hour); });
}

Case by_week(Draw& draw) {
  const double size = draw.parameter(0.1, 0.4);
  const Shape week = weekly(draw);
  return innocent(draw, [=](double hour) { return 1 + size * week(hour); });
}

// The daily swing grows, but its minimum does not.
Case wider_days(Draw& draw) {
  const double size = draw.parameter(0.1, 0.4);
  const double more = draw.parameter(0.5, 2);
  const Shape day = daily(draw);
  return innocent(draw, [=](double hour) { return 1 + size * (1 + more * hour / kHours) * day(hour); });
}

Case teeth(Draw& draw, double low_hours, double high_hours) {
  const double size = draw.parameter(0.2, 0.8);
  const Shape tooth = sawtooth(draw, low_hours, high_hours);
  return innocent(draw, [=](double hour) { return 1 + size * tooth(hour); });
}

// Jobs that use much memory for a while and release it.
Case ballooning(Draw& draw) {
  auto jobs = std::make_shared<std::vector<std::array<double, 3>>>();
  const double every = draw.log_parameter(6, 72);
  for (double at = draw.exponential(every); at < kHours; at += draw.exponential(every)) {
    jobs->push_back({at, at + draw.log_parameter(0.5, 8), draw.parameter(0.5, 3)});
  }
  return innocent(draw, [jobs](double hour) {
    double height = 1;
    for (const auto& [begin, end, size] : *jobs) height += hour >= begin && hour < end ? size : 0;
    return height;
  });
}

Case wandering(Draw& draw, double step, double pull) {
  auto path = std::make_shared<std::vector<double>>();
  double value = pull > 0 ? step / std::sqrt(2 * pull) * draw.normal() : 0;
  for (int at = 0; at <= kHours * 12; ++at) {
    value += step * draw.normal() - pull * value;
    path->push_back(std::max(1 + value, 0.2));
  }
  Signal signal;
  signal.noisy = false;
  return innocent(
      draw, [path](double hour) { return (*path)[static_cast<std::size_t>(hour * 12 + 0.5)]; }, signal);
}

Case slow_noise(Draw& draw) {
  const double samples = 12 * draw.log_parameter(20, 60);
  return wandering(draw, 0.12 * std::sqrt(2 / samples), 1 / samples);
}

Case random_walk(Draw& draw) {
  return wandering(draw, draw.log_parameter(0.05, 0.4) / std::sqrt(kHours * 12), 0);
}

// A level program. The observation ends while its daily load is rising.
Case rising_at_the_end(Draw& draw) {
  const double size = draw.parameter(0.2, 0.6);
  const double end = draw.parameter(6, 12);  // hours after the daily minimum
  return innocent(draw,
                  [=](double hour) { return 1 + size * (0.5 - 0.5 * std::cos(2 * kPi * (hour - kHours + end) / 24)); });
}

// A program that starts each hour, works and exits: many short runs.
Case cron(Draw& draw) {
  const double length = draw.parameter(0.2, 0.9);
  const double size = draw.log_parameter(0.3, 4);
  Signal signal;
  signal.life = [](double hour) { return static_cast<int>(hour); };
  signal.recorded = [length](double hour) { return std::fmod(hour, 1) < length; };
  return innocent(
      draw, [=](double hour) { return 1 + size * std::fmod(hour, 1); }, signal);
}

}  // namespace

std::vector<CaseClass> load_classes() {
  return {
      {"by day", false, false, by_day},
      {"by week", false, false, by_week},
      {"ever wider days", false, false, wider_days},
      {"sawtooth, short", false, false, [](Draw& draw) { return teeth(draw, 0.2, 6); }},
      {"sawtooth, 1 to 4 days", false, false, [](Draw& draw) { return teeth(draw, 24, 96); }},
      {"sawtooth, a week", false, false, [](Draw& draw) { return teeth(draw, 150, 190); }},
      {"ballooning jobs", false, false, ballooning},
      {"slow noise", false, false, slow_noise},
      {"random walk", false, false, random_walk},
      {"ends on the day's rise", false, false, rising_at_the_end},
      {"cron jobs", false, false, cron},
  };
}

}  // namespace memoir::bench
