// Programs that leak.

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/leaks/signal.h"

namespace memoir::bench {

namespace {

// A series that grows by the share `growth` of a drawn level. `grown` is the growth's shape, from 0 to 1 over the
// history. `around` takes the level and returns a shape to add, such as a daily load.
Case leaking(Draw& draw, double growth, const Shape& grown, const std::function<Shape(double)>& around = {},
             Signal signal = {}) {
  Case made;
  made.level = draw_level(draw);
  made.growth = growth;
  const double level = made.level;
  const Shape rest = around ? around(level) : Shape([](double) { return 0.0; });
  signal.kib = [=](double hour) { return level * (1 + growth * grown(hour)) + rest(hour); };
  signal.noise_level = level;
  made.onset_ms = kStartMs;
  made.samples = sample(draw, signal);
  return made;
}

double ramp(double hour) {
  return hour / kHours;
}

void straight(Case& made, double share_of_history = 1) {
  made.slope_per_day = made.level * made.growth / (kDays * share_of_history);
}

Case linear(Draw& draw) {
  return make_linear(draw, draw_growth(draw));
}

Case with_days(Draw& draw) {
  const double size = draw.parameter(0.1, 0.4);
  const Shape day = daily(draw);
  Case made = leaking(draw, draw_growth(draw), ramp,
                      [=](double level) { return Shape([=](double hour) { return level * size * day(hour); }); });
  straight(made);
  return made;
}

Case with_weeks(Draw& draw) {
  const double size = draw.parameter(0.1, 0.4);
  const Shape week = weekly(draw);
  Case made = leaking(draw, draw_growth(draw), ramp,
                      [=](double level) { return Shape([=](double hour) { return level * size * week(hour); }); });
  straight(made);
  return made;
}

Case collected(Draw& draw) {
  const double size = draw.parameter(0.2, 0.8);
  const Shape teeth = sawtooth(draw, 0.2, 6);
  Case made = leaking(draw, draw_growth(draw), ramp,
                      [=](double level) { return Shape([=](double hour) { return level * size * teeth(hour); }); });
  straight(made);
  return made;
}

Case late(Draw& draw) {
  const double onset = draw.parameter(0.4, 0.8);
  Case made = leaking(draw, draw_growth(draw),
                      [onset](double hour) { return std::max(0.0, (hour / kHours - onset) / (1 - onset)); });
  made.onset_ms = kStartMs + static_cast<std::int64_t>(onset * kHours * kHourMs);
  straight(made, 1 - onset);
  return made;
}

Case by_steps(Draw& draw) {
  const double per_day = draw.log_parameter(1, 8);
  auto heights = std::make_shared<std::vector<std::pair<double, double>>>();
  double sum = 0;
  for (double at = draw.exponential(24 / per_day); at < kHours; at += draw.exponential(24 / per_day)) {
    sum += draw.exponential(1);
    heights->emplace_back(at, sum);
  }
  return leaking(draw, draw_growth(draw), [heights, sum](double hour) {
    const auto next = std::upper_bound(heights->begin(), heights->end(), hour,
                                       [](double at, const auto& step) { return at < step.first; });
    return next == heights->begin() ? 0.0 : std::prev(next)->second / sum;
  });
}

// Restarts every 40 to 150 hours. Each run grows by the drawn growth per hundred hours.
Case restarted(Draw& draw) {
  auto begins = std::make_shared<std::vector<double>>(1, 0.0);
  while (begins->back() < kHours) begins->push_back(begins->back() + draw.parameter(40, 150));
  const auto life = [begins](double hour) {
    return static_cast<int>(std::upper_bound(begins->begin(), begins->end(), hour) - begins->begin()) - 1;
  };
  Signal signal;
  signal.life = life;
  Case made = leaking(
      draw, draw_growth(draw),
      [begins, life](double hour) { return (hour - (*begins)[static_cast<std::size_t>(life(hour))]) / 100; }, {},
      signal);
  made.slope_per_day = made.level * made.growth * 24 / 100;
  return made;
}

Case business_hours(Draw& draw) {
  const double start = 24 * draw.unit();
  const auto weekday = static_cast<int>(7 * draw.unit());
  auto grown = std::make_shared<std::vector<double>>();
  double sum = 0;
  for (int at = 0; at < kHours * 12; ++at) {
    const double hour = start + at / 12.0;
    const bool works =
        (weekday + static_cast<int>(hour / 24)) % 7 < 5 && std::fmod(hour, 24) >= 9 && std::fmod(hour, 24) < 17;
    grown->push_back(sum += works ? 1 : 0);
  }
  return leaking(draw, draw_growth(draw),
                 [grown, sum](double hour) { return (*grown)[static_cast<std::size_t>(hour * 12 + 0.5)] / sum; });
}

Case accelerating(Draw& draw) {
  const double power = draw.parameter(1.3, 2.5);
  return leaking(draw, draw_growth(draw), [power](double hour) { return std::pow(hour / kHours, power); });
}

Case with_gaps(Draw& draw) {
  const double phase = 37 * draw.unit();
  Signal signal;
  signal.recorded = [phase](double hour) { return std::fmod(hour + phase, 37) >= 9; };
  Case made = leaking(draw, draw_growth(draw), ramp, {}, signal);
  straight(made);
  return made;
}

Case short_and_fast(Draw& draw) {
  Signal signal;
  signal.hours = draw.parameter(10, 48);
  const double hours = signal.hours;
  Case made = leaking(
      draw, draw_growth(draw), [hours](double hour) { return hour / hours; }, {}, signal);
  made.slope_per_day = made.level * made.growth * 24 / hours;
  return made;
}

// A program that fills up within one to six days, with daily load. The growth is a straight line if `power` is 1, and
// accelerates if it is larger.
Case filling(Draw& draw, double power) {
  Signal signal;
  signal.hours = draw.parameter(24, 144);
  const double hours = signal.hours;
  const double size = draw.parameter(0.05, 0.3);
  const Shape day = daily(draw);
  return leaking(
      draw, draw.log_parameter(0.5, 3), [=](double hour) { return std::pow(hour / hours, power); },
      [=](double level) { return Shape([=](double hour) { return level * size * day(hour); }); }, signal);
}

// Resident memory stays level, because the growth is swapped out in batches. Only the sum with swap grows.
Case swapped(Draw& draw) {
  const double every = draw.log_parameter(2, 24);
  Case made = leaking(draw, draw_growth(draw), [every](double hour) {
    return 0.3 * hour / kHours + 0.7 * std::floor(hour / every) * every / kHours;
  });
  straight(made);
  return made;
}

}  // namespace

Case make_linear(Draw& draw, double growth) {
  Case made = leaking(draw, growth, ramp);
  straight(made);
  return made;
}

std::vector<CaseClass> filling_classes() {
  return {
      {"filling in days", true, true, [](Draw& draw) { return filling(draw, 1); }},
      {"filling in days, accelerating", true, false, [](Draw& draw) { return filling(draw, draw.parameter(1.5, 3)); }},
      {"filling, short and fast", true, true, short_and_fast},
  };
}

std::vector<CaseClass> leak_classes() {
  return {
      {"linear", true, true, linear},
      {"linear, by day", true, true, with_days},
      {"linear, by week", true, true, with_weeks},
      {"collected, rising floor", true, true, collected},
      {"late onset", true, true, late},
      {"steps", true, false, by_steps},
      {"per life, restarts", true, true, restarted},
      {"business hours", true, false, business_hours},
      {"accelerating", true, false, accelerating},
      {"gaps in recording", true, true, with_gaps},
      {"short and fast", true, true, short_and_fast},
      {"masked by swap", true, true, swapped},
  };
}

}  // namespace memoir::bench
