#include "bench/leaks/score.h"

#include <algorithm>
#include <cmath>

#include "analysis/leak/pool.h"
#include "analysis/leak/statistics.h"
#include "base/clock.h"
#include "bench/leaks/baselines.h"

namespace memoir::bench {

namespace {

constexpr std::uint64_t kTestSeeds = 400'000;
constexpr int kFirstEvaluation = 3;  // days

Case make_case(const CaseClass& which, Split split, int seed, double& times) {
  Draw draw = draw_of(split, seed);
  times = draw.parameter(3, 8);
  return which.make(draw);
}

LeakPool pool_of(const Case& made) {
  LeakPool pool{roll_up(made.samples), {}, {}};
  if (!made.pool) return pool;
  pool.count = roll_up(made.pool->count);
  for (const auto& member : made.pool->members) {
    if (!member.empty()) pool.members.push_back(roll_up(member));
  }
  return pool;
}

LeakFinding judge(const LeakPool& pool, const LeakMetric& metric) {
  return pool.count.buckets.empty() ? judge_leak(pool.sum, metric) : judge_pool(pool, metric);
}

LeakSeries until(const LeakSeries& series, std::int64_t end_ms) {
  LeakSeries part{{}, series.width_ms};
  for (const LeakBucket& bucket : series.buckets) {
    if (bucket.from_ms + series.width_ms <= end_ms) part.buckets.push_back(bucket);
  }
  return part;
}

LeakPool until(const LeakPool& pool, std::int64_t end_ms) {
  LeakPool part{until(pool.sum, end_ms), until(pool.count, end_ms), {}};
  for (const LeakSeries& member : pool.members) {
    LeakSeries cut = until(member, end_ms);
    if (!cut.buckets.empty()) part.members.push_back(std::move(cut));
  }
  return part;
}

void score_slope(const Case& made, const LeakFinding& found, Score& score) {
  const double truth = *made.slope_per_day;
  score.slope_errors.push_back(std::abs(found.slope_per_day.value / truth - 1));
  score.covered.add(found.slope_per_day.lower <= truth && truth <= found.slope_per_day.upper);
}

// Scores daily checks, as an operator makes them every morning.
void score_days(const CaseClass& which, const Case& made, const LeakPool& pool, Score& score) {
  if (made.samples.back().at_ms - made.samples.front().at_ms < kFirstEvaluation * kDayMs) return;
  int run = 0;
  for (int day = kFirstEvaluation; day <= kDays; ++day) {
    const std::int64_t now_ms = kStartMs + day * kDayMs;
    const bool alarm = judge(until(pool, now_ms), made.metric).leak;
    if (which.leak) {
      if (!alarm || now_ms <= made.onset_ms) continue;
      const double days = static_cast<double>(now_ms - made.onset_ms) / static_cast<double>(kDayMs);
      score.latency_days.push_back(days);
      if (made.slope_per_day) score.leaked_kib.push_back(days * *made.slope_per_day);
      return;
    }
    run = alarm ? run + 1 : 0;
    score.days += 1;
    score.episodes += run == 1 ? 1 : 0;
    score.confirmed += run == 2 ? 1 : 0;
  }
}

void score_baselines(const CaseClass& which, const Case& made, const LeakSeries& series, double times, Scores& scores) {
  const double level = made.level > 0 ? made.level : series.buckets.front().mean;
  for (const Baseline& baseline : baselines()) {
    auto& rates = which.leak ? scores.baseline_hits : scores.baseline_alarms;
    rates[baseline.name].add(baseline.alarms(series, times * level));
  }
}

}  // namespace

Draw draw_of(Split split, int seed) {
  return Draw(static_cast<std::uint64_t>(seed) + (split == Split::test ? kTestSeeds : 0), split);
}

Scores score_cases(Split split, int seeds) {
  Scores scores;
  for (const CaseClass& which : case_classes()) {
    Score score;
    for (int seed = 1; seed <= seeds; ++seed) {
      double times = 0;  // the limit, in multiples of the level
      const Case made = make_case(which, split, seed, times);
      const LeakPool pool = pool_of(made);
      const std::int64_t before = thread_cpu_us();
      const LeakFinding found = judge(pool, made.metric);
      score.cpu_us += thread_cpu_us() - before;
      ++score.judged;
      score.alarms.add(found.leak);
      if (!which.expected.empty()) score.expected.add(to_string(found.verdict) == which.expected);
      if (found.leak) scores.by_confidence[std::min(9, static_cast<int>(found.confidence / 10))].add(which.leak);
      if (found.leak && which.steady) score_slope(made, found, score);
      score_days(which, made, pool, score);
      score_baselines(which, made, pool.sum, times, scores);
    }
    scores.classes.emplace_back(which, std::move(score));
  }
  return scores;
}

std::vector<SweepRow> score_sweep(Split split, int seeds) {
  std::vector<SweepRow> rows{{0.02, 0.05, {}}, {0.05, 0.10, {}}, {0.10, 0.20, {}}, {0.20, 0.50, {}}};
  for (SweepRow& row : rows) {
    for (int seed = 1; seed <= seeds; ++seed) {
      Draw draw = draw_of(split, seed);
      const double growth = draw.log_parameter(row.low, row.high);
      const Case made = make_linear(draw, growth);
      row.alarms.add(judge_leak(roll_up(made.samples), made.metric).leak);
    }
  }
  return rows;
}

Rate score_exhaustion(Split split, int seeds) {
  constexpr std::int64_t seen_days = 20;
  Rate rate;
  for (int seed = 1; seed <= seeds; ++seed) {
    Draw draw = draw_of(split, seed);
    const double growth = draw.log_parameter(0.12, 2);
    const Case made = make_linear(draw, growth);
    const double limit = made.level * (1 + growth);
    const auto full =
        std::ranges::find_if(made.samples, [limit](const LeakSample& sample) { return sample.value >= limit; });
    const std::int64_t now_ms = kStartMs + seen_days * kDayMs;
    if (full == made.samples.end() || full->at_ms < now_ms + kDayMs) continue;
    const auto now = std::ranges::lower_bound(made.samples, now_ms, {}, &LeakSample::at_ms) - 1;
    const LeakFinding found = judge_leak(until(roll_up(made.samples), now_ms), made.metric, {},
                                         {{"limit", limit - now->value, 0, now->value}});
    if (!found.leak) continue;
    const bool has_time = found.exhaustion && found.exhaustion->in_ms;
    const auto left_ms = static_cast<double>(full->at_ms - now_ms);
    rate.add(has_time && std::abs(found.exhaustion->in_ms->value / left_ms - 1) <= 0.25);
  }
  return rate;
}

std::vector<Wrong> wrong_verdicts(const CaseClass& which, Split split, int seeds) {
  std::vector<Wrong> wrong;
  for (int seed = 1; seed <= seeds; ++seed) {
    double times = 0;
    const Case made = make_case(which, split, seed, times);
    LeakFinding found = judge(pool_of(made), made.metric);
    if (found.leak != which.leak) wrong.push_back({seed, std::move(found)});
  }
  return wrong;
}

}  // namespace memoir::bench
