// Programs without a leak: some are level, others fill up and stay there.

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/leaks/signal.h"

namespace memoir::bench {

namespace {

Case flat(Draw& draw) {
  return innocent(draw, [](double) { return 1.0; });
}

Case log_warm_up(Draw& draw) {
  const double size = draw.log_parameter(0.12, 1.0);
  const double tau = draw.log_parameter(0.5, 24);
  return innocent(draw, [=](double hour) { return 1 + size * std::log1p(hour / tau) / std::log1p(kHours / tau); });
}

Case filling_cache(Draw& draw) {
  const double size = draw_growth(draw);
  const double tau = draw.log_parameter(12, 140);
  return innocent(draw, [=](double hour) { return 1 + size * -std::expm1(-hour / tau); });
}

// Steps up and down, as deployments cause them.
Case steps(Draw& draw, int count) {
  auto found = std::make_shared<std::vector<std::pair<double, double>>>();
  for (int at = 0; at < count; ++at) {
    const double size = draw.log_parameter(0.05, 0.6);
    const bool up = count == 1 || draw.chance(0.85);
    found->emplace_back(kHours * draw.parameter(0.05, 0.95), up ? size : -std::min(size, 0.15));
  }
  return innocent(draw, [found](double hour) {
    double height = 1;
    for (const auto& [at, size] : *found) height += hour >= at ? size : 0;
    return std::max(height, 0.3);
  });
}

Case short_warm_up(Draw& draw) {
  Signal signal;
  signal.hours = draw.parameter(10, 48);
  const double size = draw_growth(draw);
  const double tau = signal.hours * draw.log_parameter(0.03, 0.2);
  return innocent(
      draw, [=](double hour) { return 1 + size * -std::expm1(-hour / tau); }, signal);
}

Case warm_up_per_restart(Draw& draw) {
  auto begins = std::make_shared<std::vector<double>>(1, 0.0);
  while (begins->back() < kHours) begins->push_back(begins->back() + draw.parameter(40, 150));
  const auto life = [begins](double hour) {
    return static_cast<int>(std::upper_bound(begins->begin(), begins->end(), hour) - begins->begin()) - 1;
  };
  const double size = draw_growth(draw);
  const double tau = draw.log_parameter(2, 15);
  Signal signal;
  signal.life = life;
  return innocent(
      draw,
      [=](double hour) {
        return 1 + size * -std::expm1(-(hour - (*begins)[static_cast<std::size_t>(life(hour))]) / tau);
      },
      signal);
}

Case grown_then_level(Draw& draw) {
  const double size = draw_growth(draw);
  const double until = draw.parameter(0.3, 0.7);
  return innocent(draw, [=](double hour) { return 1 + size * std::min(1.0, hour / kHours / until); });
}

Case shrinking(Draw& draw) {
  const double size = draw.parameter(0.1, 0.6);
  return innocent(draw, [=](double hour) { return 1 - size * hour / kHours; });
}

// Some runs leak; then a fixed version starts. Judged at the end, long after the fix.
Case fixed(Draw& draw) {
  const double mended = draw.parameter(0.4, 0.8);
  const double size = draw_growth(draw);
  const double cycle = draw.parameter(60, 200);
  Signal signal;
  signal.life = [=](double hour) {
    return static_cast<int>(std::min(hour, mended * kHours) / cycle) + (hour >= mended * kHours ? 1 : 0);
  };
  return innocent(
      draw, [=](double hour) { return hour >= mended * kHours ? 1.0 : 1 + size * std::fmod(hour, cycle) / cycle; },
      signal);
}

// Anonymous memory is level while pages of a mapped file are loaded. The judged metric excludes file pages.
Case file_pages(Draw& draw) {
  return innocent(draw, [](double) { return 1.0; });
}

}  // namespace

std::vector<CaseClass> calm_classes() {
  return {
      {"flat", false, false, flat},
      {"logarithmic warm-up", false, false, log_warm_up},
      {"filling cache", false, false, filling_cache},
      {"one step", false, false, [](Draw& draw) { return steps(draw, 1); }},
      {"four deployments", false, false, [](Draw& draw) { return steps(draw, 4); }},
      {"short warm-up", false, false, short_warm_up},
      {"warm-up per restart", false, false, warm_up_per_restart},
      {"grew, then level", false, false, grown_then_level},
      {"shrinking", false, false, shrinking},
      {"leak, then fixed", false, false, fixed},
      {"page cache, mapped files", false, false, file_pages},
  };
}

}  // namespace memoir::bench
