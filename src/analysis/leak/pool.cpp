#include "analysis/leak/pool.h"

#include <algorithm>

#include "analysis/leak/words.h"

namespace memoir {

namespace {

// Returns the average over the members in each bucket.
LeakSeries per_member(const LeakPool& pool) {
  LeakSeries average{{}, pool.sum.width_ms};
  auto count = pool.count.buckets.begin();
  for (const LeakBucket& sum : pool.sum.buckets) {
    while (count != pool.count.buckets.end() && count->from_ms < sum.from_ms) ++count;
    if (count == pool.count.buckets.end() || count->from_ms != sum.from_ms || count->mean <= 0) continue;
    LeakBucket& bucket = average.buckets.emplace_back(sum);
    bucket.min = bucket.mean = bucket.max = sum.mean / count->mean;
  }
  return average;
}

double largest_count(const LeakPool& pool) {
  double largest = 0;
  for (const LeakBucket& bucket : pool.count.buckets) largest = std::max(largest, bucket.max);
  return largest;
}

constexpr double kExplains = 0.5;

// Returns the growth of the line, relative to the level at its end.
double growth_share(const LeakFinding& found) {
  return found.line_to.value > 0
             ? found.slope_per_day.value * static_cast<double>(found.window_ms) / found.line_to.value
             : 0;
}

bool members_grow(const LeakPool& pool, const LeakMetric& metric, const LeakSettings& settings) {
  constexpr std::size_t min_members = 2;
  std::size_t judged = 0;
  std::size_t growing = 0;
  std::size_t left = pool.members.size();
  for (const LeakSeries& member : pool.members) {
    if (2 * (growing + left) <= judged + left) return false;
    --left;
    const LeakFinding found = judge_leak(member, metric, settings);
    judged += found.verdict != LeakVerdict::insufficient ? 1U : 0U;
    growing += found.leak ? 1U : 0U;
  }
  return judged >= min_members && 2 * growing > judged;
}

}  // namespace

LeakMetric process_count_metric() {
  return {"processes", 10, 0.2, LeakUnit::count};
}

LeakFinding judge_pool(const LeakPool& pool, const LeakMetric& metric, const LeakSettings& settings,
                       const std::vector<LeakLimit>& limits) {
  LeakFinding sum = judge_leak(pool.sum, metric, settings, limits);
  if (largest_count(pool) < 2) return sum;
  if (!sum.leak) {
    if (sum.verdict != LeakVerdict::insufficient && members_grow(pool, metric, settings)) {
      sum.verdict = LeakVerdict::contained;
      explain(sum, settings);
    }
    return sum;
  }
  if (judge_leak(per_member(pool), metric, settings).leak) return sum;
  const LeakFinding count = judge_leak(pool.count, process_count_metric(), settings);
  // If the number of members hardly grows, the average may hide that a few members grow. Then the sum's finding stays.
  if (!count.leak && growth_share(count) < kExplains * growth_share(sum)) return sum;
  sum.verdict = count.leak ? LeakVerdict::count : LeakVerdict::scale_out;
  sum.leak = count.leak;
  if (!sum.leak) {
    sum.confidence = 0;
    sum.confirmed = false;
    sum.exhaustion.reset();
  }
  for (LeakGate gate : count.gates) {
    gate.name = "processes: " + gate.name;
    sum.gates.push_back(std::move(gate));
  }
  explain(sum, settings);
  return sum;
}

}  // namespace memoir
