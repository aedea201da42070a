#include "analysis/leak/leak.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <span>

#include "analysis/leak/floor.h"
#include "analysis/leak/forecast.h"
#include "analysis/leak/gates.h"
#include "analysis/leak/restarts.h"
#include "analysis/leak/shape.h"
#include "analysis/leak/words.h"

namespace memoir {

namespace {

constexpr double kMinCovered = 0.5;
constexpr double kShortestHours = 2;
constexpr double kHoursPerDay = 24;
constexpr double kTrueDayMs = 86'400'000;
constexpr std::array kParts{1.0, 0.5, 0.25, 0.125};
constexpr double kKeepsFrom = 1;                    // minimum days of life to keep a leak that nearly passes
constexpr std::array kRecently{1.0 / 12, 1.0 / 6};  // times before the end that count as recent, as parts of the life

struct Lives {
  std::vector<LeakHour> hours;                   // hours of all lives, in time order
  std::vector<std::span<const LeakHour>> spans;  // one per life, the current life last
};

double day_ms(const LeakSettings& settings) {
  return kHoursPerDay * static_cast<double>(settings.hour_ms);
}

// Splits the series into lives by LeakBucket::life, because two lives may share an hour. The time axis ends where the
// last bucket ends.
Lives lives_of(const LeakSeries& series, const LeakMetric& metric, const LeakSettings& settings) {
  Lives lives;
  if (series.buckets.empty()) return lives;
  const std::int64_t end_ms = series.buckets.back().from_ms + series.width_ms;
  std::vector<std::size_t> begins;
  std::int32_t life = 0;
  for (const LeakBucket& bucket : series.buckets) {
    if (static_cast<double>(bucket.covered_ms) < kMinCovered * static_cast<double>(series.width_ms)) continue;
    if (metric.unit != LeakUnit::count && bucket.max <= 0) continue;
    if (begins.empty() || bucket.life != life) begins.push_back(lives.hours.size());
    life = bucket.life;
    const double begin = static_cast<double>(bucket.from_ms - end_ms) / day_ms(settings);
    lives.hours.push_back(
        {begin, begin + static_cast<double>(series.width_ms) / day_ms(settings), bucket.min, bucket.mean, bucket.max});
  }
  begins.push_back(lives.hours.size());
  for (std::size_t at = 0; at + 1 < begins.size(); ++at) {
    lives.spans.push_back(std::span<const LeakHour>(lives.hours).subspan(begins[at], begins[at + 1] - begins[at]));
  }
  return lives;
}

LeakVerdict verdict_of_failed(const WindowFinding& window) {
  const auto failed = [&window](Gate gate) {
    return std::find(window.failed.begin(), window.failed.end(), gate) != window.failed.end();
  };
  const bool trends = !failed(Gate::trend) && !failed(Gate::slope);
  if (failed(Gate::effect) && !window.steps.empty()) return LeakVerdict::level_shift;
  if (!trends) return LeakVerdict::noise;
  if (failed(Gate::effect)) return LeakVerdict::below_minimum;
  if (failed(Gate::bottom)) return LeakVerdict::within_envelope;
  if (failed(Gate::straight)) return LeakVerdict::warm_up;
  if (failed(Gate::growing)) return LeakVerdict::plateaued;
  if (failed(Gate::novelty)) return LeakVerdict::within_envelope;
  if (failed(Gate::diurnal)) return LeakVerdict::diurnal;
  return LeakVerdict::noise;  // drift: a random walk
}

// Returns whether the floors are level in most blocks, rise in several jumps and hardly fall.
bool goes_by_steps(const WindowFinding& window) {
  constexpr int min_steps = 4;
  const std::vector<TimedValue> floors = put_back(window.floors, window.steps);
  std::vector<double> increments;
  double fallen = 0;
  for (std::size_t at = 1; at < floors.size(); ++at) {
    increments.push_back(floors[at].value - floors[at - 1].value);
    fallen -= std::min(increments.back(), 0.0);
  }
  const double usual = mean_of(increments);
  const auto jumps = std::count_if(increments.begin(), increments.end(), [usual](double by) { return by > 2 * usual; });
  const double whole = floors.back().value - floors.front().value;
  return jumps >= min_steps && fallen <= 0.25 * whole && median_of(increments) <= 0.25 * usual;
}

// Returns whether the values fall within nearly every hour, by more than the floors scatter.
bool is_sawtooth(const WindowFinding& window, std::span<const LeakHour> hours) {
  const std::span<const LeakHour> judged = last_days(hours, window.window.days);
  const double swing = quantile_of(transformed(judged, [](const LeakHour& hour) { return hour.max - hour.min; }), 0.75);
  return swing >= 0.15 * median_of(transformed(judged, &LeakHour::mean)) && swing >= 3 * window.scatter;
}

LeakVerdict subtype_of(const WindowFinding& window, std::span<const LeakHour> hours, const LeakMetric& metric) {
  if (metric.unit == LeakUnit::count) return LeakVerdict::count;
  if (is_sawtooth(window, hours)) return LeakVerdict::sawtooth_floor;
  return goes_by_steps(window) ? LeakVerdict::step : LeakVerdict::steady;
}

// A young life may still be starting up if it has not grown beyond the earlier lives.
constexpr double kYoungDays = 2;
constexpr double kBeyond = 1.02;

void compare_with_earlier(WindowFinding& window, const Lives& lives) {
  const std::span<const LeakHour> current = lives.spans.back();
  if (lives.spans.size() < 2 || -current.front().begin >= kYoungDays) return;
  std::vector<double> earlier;
  bool longer = false;
  for (std::size_t at = 0; at + 1 < lives.spans.size(); ++at) {
    const std::span<const LeakHour> life = lives.spans[at];
    longer = longer || life.back().end - life.front().begin > -current.front().begin;
    for (const LeakHour& hour : life) earlier.push_back(hour.min);
  }
  if (!longer) return;
  const double highest = quantile_of(std::move(earlier), 0.98);
  const double times = highest > 0 ? window.recorded.back().value / highest : 0;
  window.gates.push_back({"earlier", times, kBeyond, times >= kBeyond,
                          "it is above the level of all earlier runs (as a multiple of the highest)"});
  if (times < kBeyond) window.failed.push_back(Gate::novelty);
}

const LeakGate* find_gate(const WindowFinding& window, std::string_view name) {
  const auto found = std::ranges::find(window.gates, name, &LeakGate::name);
  return found == window.gates.end() ? nullptr : &*found;
}

double confidence_of(const WindowFinding& window, double life_days) {
  const double trend = std::min(1.0, find_gate(window, "trend")->value / 4);
  const double drift = std::min(1.0, find_gate(window, "drift")->value / 4);
  const LeakGate& effect = *find_gate(window, "effect");
  const double size = std::min(1.0, effect.value / (3 * effect.threshold));
  const double late = std::clamp(window.late / 0.8, 0.0, 1.0);
  const double score = 100 * std::pow(trend * drift * size * late, 0.25);
  if (life_days < 1) return std::min(score, 50.0);
  if (life_days < 3) return std::min(score, 70.0);
  return score;
}

std::int64_t to_ms(double day, std::int64_t end_ms, const LeakSettings& settings) {
  return end_ms + std::llround(day * day_ms(settings));
}

void fill_slope(LeakFinding& found, const SlopeEstimate& slope, const LeakSettings& settings) {
  const double real_day = kTrueDayMs / day_ms(settings);
  found.slope_per_day = {slope.per_day * real_day, slope.lower * real_day, slope.upper * real_day};
}

void fill_window(LeakFinding& found, const WindowFinding& window, const LeakSettings& settings) {
  const auto at = [&](double day) { return to_ms(day, found.until_ms, settings); };
  const SlopeEstimate& slope = window.slope;
  fill_slope(found, window.reported, settings);
  found.window_ms = std::llround(window.window.days * day_ms(settings));
  found.grown_by = window.growth;
  found.level = window.recorded.back().value;
  for (const TimedValue& floor : window.recorded) found.floors.push_back({at(floor.day), floor.value});
  for (const LeakStep& step : window.steps) found.steps.push_back({at(step.day), step.by});
  const double first = window.recorded.front().day;
  found.since_ms = at(first - window.window.block / 2);
  found.line_from = {at(first), slope.intercept + slope.per_day * first};
  found.line_to = {found.until_ms, slope.intercept};
  found.gates = window.gates;
}

// If growth started only within the window, takes the slope from that time on.
void refine_onset(LeakFinding& found, const WindowFinding& window, const LeakLife& life, const LeakMetric& metric,
                  const LeakSettings& settings) {
  const std::optional<double> onset = onset_of(window.floors);
  if (!onset) return;
  const double days = window.window.block / 2 - *onset;
  const std::optional<WindowFinding> later = judge_window(life, days, metric);
  if (!later || later->slope.lower <= 0) return;
  fill_slope(found, later->reported, settings);
  const double first = later->recorded.front().day;
  found.since_ms = to_ms(first - later->window.block / 2, found.until_ms, settings);
  found.grown_by = later->growth;
  found.line_from = {found.since_ms, later->slope.intercept + later->slope.per_day * first};
  found.line_to = {found.until_ms, later->slope.intercept};
}

LeakInterval scaled(const LeakInterval& of, double factor) {
  return {of.value * factor, of.lower * factor, of.upper * factor};
}

// Fills the outlook, from the reported slope since the reported start of the growth.
void fill_outlook(LeakFinding& found, std::span<const LeakHour> hours, const LeakSettings& settings) {
  const double days = static_cast<double>(found.until_ms - found.since_ms) / day_ms(settings);
  const LeakInterval slope = scaled(found.slope_per_day, day_ms(settings) / kTrueDayMs);
  found.outlook = outlook_of(hours, days, {slope.value, slope.lower, slope.upper, 0});
}

void fill_restarts(LeakFinding& found, const RestartsFinding& restarts, const LeakSettings& settings,
                   std::int64_t first_ms) {
  fill_slope(found, restarts.slope, settings);
  found.window_ms = found.until_ms - first_ms;
  found.since_ms = first_ms;
  found.grown_by = restarts.growth;
  found.gates = restarts.gates;
}

double restarts_confidence(const RestartsFinding& restarts) {
  const auto value = [&restarts](std::size_t gate) { return restarts.gates[gate].value; };
  const double lives = std::min(1.0, static_cast<double>(restarts.lives) / 5);
  const double trend = std::min(1.0, value(1) / 4);
  const double size = std::min(1.0, value(2) / (3 * restarts.gates[2].threshold));
  const double late = std::clamp(value(3) / 0.8, 0.0, 1.0);
  return 100 * std::pow(lives * trend * size * late, 0.25);
}

// Returns whether any part of a life may have grown significantly. No part can grow by more than the difference between
// the highest and the lowest minimum of its hours.
bool could_grow(std::span<const LeakHour> hours, const LeakMetric& metric) {
  const auto [lowest, highest] = std::ranges::minmax_element(hours, {}, &LeakHour::min);
  return highest->min - lowest->min >= min_growth(metric, lowest->min, 0);
}

// Makes a window pass that nearly passes, because a leak that was reported recently stays one.
void keep(WindowFinding& window) {
  for (LeakGate& gate : window.gates) {
    if (!gate.passed) gate.threshold *= kNearly;
    gate.passed = true;
  }
  window.failed.clear();
}

// Returns the longest window that passes, or nearly passes if `was_leak` is true; otherwise the whole life.
std::optional<WindowFinding> best_window(const LeakLife& life, const Lives& lives, const LeakMetric& metric,
                                         const std::function<bool()>& was_leak) {
  const bool could = could_grow(life.hours, metric);
  std::optional<WindowFinding> best;
  std::optional<WindowFinding> nearly;
  for (const double part : kParts) {
    const double days = life.days * part;
    if (days * kHoursPerDay < kShortestHours - 1e-6) break;
    std::optional<WindowFinding> window = judge_window(life, days, metric);
    if (!window) continue;
    compare_with_earlier(*window, lives);
    const bool passed = window->passed();
    if (!passed && window->nearly && !nearly && life.days >= kKeepsFrom) nearly = window;
    if (!best || passed) best = std::move(window);
    if (passed || !could) break;
  }
  if (best && !best->passed() && nearly && was_leak()) {
    keep(*nearly);
    return nearly;
  }
  return best;
}

void judge_lives(LeakFinding& found, const Lives& lives, const LeakMetric& metric, const LeakSettings& settings,
                 std::int64_t first_ms, const std::function<bool()>& was_leak) {
  const LeakLife life = make_life(lives.spans.back());
  found.history_ms = std::llround(life.days * day_ms(settings));
  found.level = life.hours.back().min;
  const std::optional<WindowFinding> best = best_window(life, lives, metric, was_leak);
  if (best && best->passed()) {
    fill_window(found, *best, settings);
    refine_onset(found, *best, life, metric, settings);
    fill_outlook(found, life.hours, settings);
    found.verdict = subtype_of(*best, life.hours, metric);
    found.confidence = confidence_of(*best, life.days);
    found.short_history = life.days < 1;
    return;
  }
  const RestartsFinding restarts = judge_restarts(lives.spans, metric);
  if (restarts.passed || restarts.warm_up) {
    fill_restarts(found, restarts, settings, first_ms);
    found.verdict = restarts.passed ? LeakVerdict::across_restarts : LeakVerdict::warm_up_per_restart;
    const LeakHour& last = life.hours.back();
    found.outlook = {{restarts.slope.per_day, restarts.slope.lower, restarts.slope.upper},
                     false,
                     {{0, last.mean}},
                     0,
                     (last.max - last.min) / 2,
                     {last.mean, last.min, last.max}};
    if (restarts.passed) found.confidence = restarts_confidence(restarts);
  } else if (best) {
    fill_window(found, *best, settings);
    found.verdict = verdict_of_failed(*best);
  }
}

std::int64_t recorded_of_last_life(const LeakSeries& series) {
  std::int64_t recorded_ms = 0;
  for (const LeakBucket& bucket : series.buckets) {
    if (bucket.life == series.buckets.back().life) recorded_ms += bucket.covered_ms;
  }
  return recorded_ms;
}

LeakSeries before(const LeakSeries& series, double end_ms) {
  LeakSeries part{{}, series.width_ms};
  std::copy_if(series.buckets.begin(), series.buckets.end(), std::back_inserter(part.buckets),
               [end_ms](const LeakBucket& bucket) { return static_cast<double>(bucket.from_ms) <= end_ms; });
  return part;
}

// `once`: ignores earlier verdicts.
LeakFinding judge(const LeakSeries& series, const LeakMetric& metric, const LeakSettings& settings, bool once) {
  LeakFinding found;
  found.recorded_ms = recorded_of_last_life(series);
  found.needed_ms = std::llround(kShortestHours * static_cast<double>(settings.hour_ms));
  const Lives lives = lives_of(series, metric, settings);
  if (!series.buckets.empty()) found.until_ms = series.buckets.back().from_ms + series.width_ms;
  found.lives = static_cast<std::int64_t>(lives.spans.size());
  const auto was_leak = [&] {
    if (once) return false;
    const double end_ms = static_cast<double>(series.buckets.back().from_ms);
    const double history_ms = -lives.spans.back().front().begin * day_ms(settings);
    return std::ranges::any_of(kRecently, [&](double part) {
      return judge(before(series, end_ms - part * history_ms), metric, settings, true).leak;
    });
  };
  if (!lives.spans.empty()) judge_lives(found, lives, metric, settings, series.buckets.front().from_ms, was_leak);
  found.leak = is_leak(found.verdict);
  return found;
}

}  // namespace

LeakFinding judge_leak(const LeakSeries& series, const LeakMetric& metric, const LeakSettings& settings,
                       const std::vector<LeakLimit>& limits) {
  LeakFinding found = judge(series, metric, settings, false);
  if (found.leak) {
    const double a_day_ago_ms = static_cast<double>(series.buckets.back().from_ms) - day_ms(settings);
    found.confirmed = judge(before(series, a_day_ago_ms), metric, settings, false).leak;
    found.exhaustion = exhaustion_of(found, limits, settings);
  }
  explain(found, settings);
  return found;
}

}  // namespace memoir
