#include "bench/leaks/recorded.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/leak/statistics.h"
#include "bench/leaks/baselines.h"
#include "bench/leaks/signal.h"

namespace memoir::bench {

namespace {

constexpr std::size_t kChecks = 64;
constexpr double kGrowingPart = 0.8;
constexpr double kLatePart = 0.6;  // the highest reading must be in the last 40 % of a trace to count as its end
Judged judge_by_memoir(std::span<const LeakSample> samples, const LeakSeries& series, double limit) {
  const LeakMetric metric{"value", 0, 0.05, LeakUnit::unknown};
  const LeakSample& last = samples.back();
  const double reading = last.mean.value_or(last.value);
  const LeakFinding found = judge_leak(series, metric, {}, {{"limit", limit - reading, 0, reading}});
  return {found.leak, found.exhaustion ? found.exhaustion->in_ms : std::nullopt};
}

std::vector<Rule> make_rules() {
  std::vector<Rule> all{{"Memoir", judge_by_memoir}};
  for (const Baseline& baseline : baselines()) {
    all.push_back({baseline.name, [&baseline](std::span<const LeakSample>, const LeakSeries& series, double limit) {
                     if (!baseline.forecast) return Judged{baseline.alarms(series, limit), std::nullopt};
                     const std::optional<LeakInterval> in_ms = baseline.forecast(series, limit);
                     return Judged{in_ms.has_value(), in_ms};
                   }});
  }
  return all;
}

double reading_of(const LeakSample& sample) {
  return sample.mean.value_or(sample.value);
}

std::span<const LeakSample> until(const Trace& trace, std::int64_t end_ms) {
  const auto end = std::ranges::upper_bound(trace.samples, end_ms, {}, &LeakSample::at_ms);
  return std::span(trace.samples).first(static_cast<std::size_t>(end - trace.samples.begin()));
}

void score_cut(std::span<const LeakSample> seen, const LeakSeries& series, double limit, double truth_ms,
               const Rule& rule, FillScore& score) {
  const Judged judged = rule.judge(seen, series, limit);
  score.found.add(judged.alarm && judged.in_ms);
  if (!judged.alarm || !judged.in_ms) return;
  const LeakInterval& in = *judged.in_ms;
  score.errors.push_back(std::abs(in.value / truth_ms - 1));
  if (in.lower == in.upper) return;
  score.covered.add(in.lower <= truth_ms && truth_ms <= in.upper);
  score.widths.push_back(std::min((in.upper - in.lower) / truth_ms, kInfinite));
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = make_rules();
  return all;
}

std::vector<RampScore> score_ramps(const std::vector<Trace>& traces, const std::vector<double>& rises, bool shares) {
  std::vector<RampScore> scores(rules().size());
  for (RampScore& score : scores) score.ramped.resize(rises.size());
  for (const Trace& trace : traces) {
    const double level = median_level(trace);
    const double limit = shares ? 2 * level : 100;
    const LeakSeries plain = roll_up(trace.samples);
    const std::int64_t first_ms = trace.samples.front().at_ms;
    const std::int64_t span_ms = trace.samples.back().at_ms - first_ms;
    for (std::size_t rule = 0; rule < scores.size(); ++rule)
      scores[rule].plain.add(rules()[rule].judge(trace.samples, plain, limit).alarm);
    std::vector<bool> before(scores.size(), false);
    for (std::size_t check = kChecks / 8; check <= kChecks; ++check) {
      const auto seen = until(trace, first_ms + span_ms * static_cast<std::int64_t>(check) / std::int64_t{kChecks});
      const LeakSeries series = roll_up(seen);
      for (std::size_t rule = 0; rule < scores.size(); ++rule) {
        const bool alarm = rules()[rule].judge(seen, series, limit).alarm;
        scores[rule].episodes += alarm && !before[rule] ? 1 : 0;
        before[rule] = alarm;
      }
    }
    for (RampScore& score : scores) score.months += static_cast<double>(span_ms) / (30.0 * kDayMs);
    const Trace stopped = with_ramp(trace, (shares ? level : 1) * rises.back(), kGrowingPart);
    const LeakSeries level_at_end = roll_up(stopped.samples);
    for (std::size_t rule = 0; rule < scores.size(); ++rule)
      scores[rule].stopped.add(rules()[rule].judge(stopped.samples, level_at_end, limit).alarm);
    for (std::size_t rise = 0; rise < rises.size(); ++rise) {
      const Trace ramped = with_ramp(trace, shares ? rises[rise] * level : rises[rise]);
      const LeakSeries series = roll_up(ramped.samples);
      for (std::size_t rule = 0; rule < scores.size(); ++rule)
        scores[rule].ramped[rise].add(rules()[rule].judge(ramped.samples, series, limit).alarm);
    }
  }
  return scores;
}

std::vector<FillScores> score_fills(const std::vector<Trace>& traces, const std::vector<double>& hours) {
  std::vector<FillScores> scores(rules().size());
  for (FillScores& score : scores) {
    for (const double before : hours) score.cuts.push_back({before, {}, {}, {}, {}});
  }
  for (const Trace& trace : traces) {
    const std::int64_t first_ms = trace.samples.front().at_ms;
    const std::int64_t span_ms = trace.samples.back().at_ms - first_ms;
    const auto fill = std::ranges::max_element(trace.samples, {}, reading_of);
    if (static_cast<double>(fill->at_ms - first_ms) < kLatePart * static_cast<double>(span_ms)) continue;
    const double limit = reading_of(*fill);
    const std::int64_t fill_ms = fill->at_ms;
    for (std::size_t cut = 0; cut < hours.size(); ++cut) {
      const auto truth_ms = static_cast<std::int64_t>(hours[cut] * static_cast<double>(kHourMs));
      // A forecast needs at least as much history as the time that remains.
      if (fill_ms - first_ms < 2 * truth_ms) continue;
      const auto seen = until(trace, fill_ms - truth_ms);
      const LeakSeries series = roll_up(seen);
      for (std::size_t rule = 0; rule < scores.size(); ++rule) {
        score_cut(seen, series, limit, static_cast<double>(truth_ms), rules()[rule], scores[rule].cuts[cut]);
      }
    }
    std::vector<bool> alarmed(scores.size(), false);
    for (std::size_t check = 1; check < kChecks; ++check) {
      const auto seen =
          until(trace, first_ms + (fill_ms - first_ms) * static_cast<std::int64_t>(check) / std::int64_t{kChecks});
      const LeakSeries series = roll_up(seen);
      for (std::size_t rule = 0; rule < scores.size(); ++rule) {
        const bool alarm = rules()[rule].judge(seen, series, limit).alarm;
        if (alarmed[rule]) scores[rule].stable.add(alarm);
        alarmed[rule] = alarmed[rule] || alarm;
      }
    }
  }
  return scores;
}

std::vector<Trace> synthetic_fills(Split split, int seeds) {
  std::vector<Trace> traces;
  for (const CaseClass& which : filling_classes()) {
    for (int seed = 1; seed <= seeds; ++seed) {
      Draw draw = draw_of(split, seed);
      traces.push_back({which.name, which.make(draw).samples});
    }
  }
  return traces;
}

}  // namespace memoir::bench
