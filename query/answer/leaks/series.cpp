#include "query/answer/leaks/series.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/leak/samples.h"
#include "analysis/metric.h"
#include "analysis/ranking.h"
#include "query/ask/times.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kHoursOfDays = 120 * 24;  // beyond, days are fine enough
const std::vector kHeld{RollupMetric::anon, RollupMetric::swap};

// A rollup row stands for all the buckets in which nothing changed.
void append(LeakSeries& series, std::int64_t from_ms, std::int64_t until_ms, std::int64_t covered_ms, double min,
            double mean, double max) {
  const std::int64_t count = std::max<std::int64_t>((until_ms - from_ms + series.width_ms - 1) / series.width_ms, 1);
  for (std::int64_t at = 0; at < count; ++at) {
    const LeakBucket bucket{from_ms + at * series.width_ms, covered_ms / count, min, mean, max, 0};
    LeakBucket* last = series.buckets.empty() ? nullptr : &series.buckets.back();
    const std::int64_t grid_ms = bucket.from_ms - bucket.from_ms % series.width_ms;
    if (last == nullptr || last->from_ms != grid_ms) {
      series.buckets.push_back(bucket);
      series.buckets.back().from_ms = grid_ms;
      continue;
    }
    // The bucket of the seam comes as two.
    const std::int64_t both_ms = std::max<std::int64_t>(last->covered_ms + bucket.covered_ms, 1);
    last->mean = (last->mean * static_cast<double>(last->covered_ms) + mean * static_cast<double>(bucket.covered_ms)) /
                 static_cast<double>(both_ms);
    last->min = std::min(last->min, min);
    last->max = std::max(last->max, max);
    last->covered_ms = both_ms;
  }
}

double sum_of(const std::optional<std::int64_t>& anon, const std::optional<std::int64_t>& swap) {
  return static_cast<double>(anon.value_or(0) + swap.value_or(0));
}

void append(LeakSeries& series, const RollupBucket& row) {
  const RollupValue& anon = row[RollupMetric::anon];
  const RollupValue& swap = row[RollupMetric::swap];
  if (!anon.mean) return;
  append(series, row.from_ms, row.until_ms, row.covered_ms, sum_of(anon.min, swap.min), sum_of(anon.mean, swap.mean),
         sum_of(anon.max, swap.max));
}

std::optional<std::int64_t> held_kib(const ProcessMemory& memory) {
  const auto anon = metric_kib(memory, Metric::anon);
  if (!anon) return std::nullopt;
  return *anon + metric_kib(memory, Metric::swap).value_or(0);
}

ValueQuestion held_in(Range range) {
  std::vector<ProcessField> fields = metric_fields(Metric::anon);
  std::ranges::copy(metric_fields(Metric::swap), std::back_inserter(fields));
  return {range, std::nullopt, fields, held_kib};
}

bool is_raw(const LeakSource& source) {
  return source.tier == Tier::raw;
}

Result<PoolSeries> raw_pool(Reader& reader, const LeakSource& source, const std::vector<StoredLife>& members) {
  std::unordered_set<std::int64_t> ids;
  for (const StoredLife& member : members) ids.insert(member.process_id);
  GroupSum sum;
  const Status read = reader.process_values(held_in(source.range), [&](const ValueStep& step) {
    if (ids.contains(step.process_id)) sum.add(step.process_id, {step.at_ms, step.until_ms, step.value});
  });
  if (!read) return read.error();
  LeakRollup total(source.width_ms);
  LeakRollup count(source.width_ms);
  for (const GroupStep& step : sum.steps()) {
    if (!step.step.value) continue;
    total.hold(step.step.at_ms, step.step.until_ms, static_cast<double>(*step.step.value));
    count.hold(step.step.at_ms, step.step.until_ms, static_cast<double>(step.members));
  }
  return PoolSeries{total.take(), count.take()};
}

const LeakBucket* bucket_at(const LeakSeries& series, std::int64_t from_ms) {
  const auto found = std::lower_bound(series.buckets.begin(), series.buckets.end(), from_ms,
                                      [](const LeakBucket& bucket, std::int64_t at) { return bucket.from_ms < at; });
  return found != series.buckets.end() && found->from_ms == from_ms ? &*found : nullptr;
}

// Of a sum the means alone are known; of one metric all of it. A metric that the kernel does not count weighs nothing.
LeakSeries weigh(const MachineSum& sum, const std::map<std::string, LeakSeries>& metrics) {
  const LeakSeries& first = metrics.at(sum.metrics.front().first);
  if (sum.metrics.size() == 1) return first;
  LeakSeries all{{}, first.width_ms};
  for (const LeakBucket& bucket : first.buckets) {
    double mean = 0;
    for (const auto& [metric, weight] : sum.metrics) {
      const LeakBucket* part = bucket_at(metrics.at(metric), bucket.from_ms);
      if (part != nullptr) mean += weight * part->mean;
    }
    all.buckets.push_back({bucket.from_ms, bucket.covered_ms, mean, mean, mean, 0});
  }
  return all;
}

}  // namespace

LeakSource leak_source(Range range, const LeakSettings& settings) {
  const std::int64_t width_ms = leak_bucket_ms(range.to_ms - range.from_ms, settings);
  if (settings.hour_ms < kHourMs) return {range, Tier::raw, width_ms};
  const bool long_ago = range.to_ms - range.from_ms > kHoursOfDays * settings.hour_ms;
  const Tier tier = long_ago ? Tier::day : width_ms < kHourMs ? Tier::five_minutes : Tier::hour;
  return {range, tier, bucket_ms(tier)};
}

Result<std::map<std::int64_t, LeakSeries>> process_series(Reader& reader, const LeakSource& source) {
  std::map<std::int64_t, LeakSeries> series;
  if (is_raw(source)) {
    std::map<std::int64_t, LeakRollup> rollups;
    const Status read = reader.process_values(held_in(source.range), [&](const ValueStep& step) {
      if (!step.value) return;
      LeakRollup& rollup = rollups.try_emplace(step.process_id, source.width_ms).first->second;
      rollup.hold(step.at_ms, step.until_ms, static_cast<double>(*step.value));
    });
    if (!read) return read.error();
    for (auto& [id, rollup] : rollups) series.emplace(id, rollup.take());
    return series;
  }
  auto of = series.end();  // rows of one process come together
  const auto add = [&](const RollupBucket& row) {
    if (of == series.end() || of->first != row.subject_id)
      of = series.try_emplace(row.subject_id, LeakSeries{{}, source.width_ms}).first;
    append(of->second, row);
  };
  TRY(reader.rollups({source.tier, MarkSubject::process, std::nullopt, source.range, kHeld}, add));
  return series;
}

Result<PoolSeries> pool_series(Reader& reader, const LeakSource& source, std::int64_t identity_id,
                               const std::vector<StoredLife>& members) {
  if (is_raw(source)) return raw_pool(reader, source, members);
  PoolSeries pool{{{}, source.width_ms}, {{}, source.width_ms}};
  const Status read = reader.rollups(
      {source.tier, MarkSubject::identity, identity_id, source.range, kHeld}, [&](const RollupBucket& row) {
        append(pool.sum, row);
        const auto count = static_cast<double>(row.processes);
        append(pool.count, row.from_ms, row.until_ms, row.covered_ms, count, count, count);
      });
  if (!read) return read.error();
  return pool;
}

Result<std::vector<LeakSeries>> machine_series(Reader& reader, const LeakSource& source,
                                               const std::vector<MachineSum>& sums) {
  std::map<std::string, LeakSeries> metrics;
  for (const MachineSum& sum : sums) {
    for (const auto& [metric, weight] : sum.metrics) metrics.try_emplace(metric, LeakSeries{{}, source.width_ms});
  }
  std::vector<std::string> names;
  names.reserve(metrics.size());
  for (const auto& [name, series] : metrics) names.push_back(name);
  // Where hours are short, the buckets of five minutes are the finest that there are.
  const Tier tier = is_raw(source) ? Tier::five_minutes : source.tier;
  for (auto& [name, series] : metrics) series.width_ms = bucket_ms(tier);
  const Status read = reader.machine_rollups(tier, names, source.range, [&](const MachineBucket& row) {
    const RollupValue& value = row.value;
    if (!value.mean) return;
    append(metrics.at(std::string(row.metric)), row.from_ms, row.until_ms, row.covered_ms,
           static_cast<double>(value.min.value_or(*value.mean)), static_cast<double>(*value.mean),
           static_cast<double>(value.max.value_or(*value.mean)));
  });
  if (!read) return read.error();
  std::vector<LeakSeries> all;
  all.reserve(sums.size());
  for (const MachineSum& sum : sums) all.push_back(weigh(sum, metrics));
  return all;
}

Result<LeakSeries> zombie_series(Reader& reader, const LeakSource& source, const LeakSettings& settings) {
  const std::vector<StoredZombies> ticks = TRY(reader.zombies(source.range));
  std::vector<LeakSample> samples;
  samples.reserve(ticks.size());
  for (const StoredZombies& tick : ticks) {
    samples.push_back({tick.at_ms, static_cast<double>(tick.zombies), std::nullopt, 0});
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const LeakSample& a, const LeakSample& b) { return a.at_ms < b.at_ms; });
  return roll_up(samples, settings);
}

}  // namespace memoir::query
