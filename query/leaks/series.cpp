#include "query/leaks/series.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/leak/samples.h"
#include "analysis/ranking.h"
#include "base/sorted.h"
#include "model/metric.h"
#include "query/args/times.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "store/samples.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kHoursOfDays = 120 * 24;  // longest history, in hours, with hourly buckets

// Combines two parts of one bucket, or its values from before and after the wall clock was set back.
void merge(LeakBucket& into, const LeakBucket& other, std::int64_t width_ms) {
  const std::int64_t both_ms = std::max<std::int64_t>(into.covered_ms + other.covered_ms, 1);
  into.mean = (into.mean * static_cast<double>(into.covered_ms) + other.mean * static_cast<double>(other.covered_ms)) /
              static_cast<double>(both_ms);
  into.min = std::min(into.min, other.min);
  into.max = std::max(into.max, other.max);
  into.covered_ms = std::min(both_ms, width_ms);
}

// Returns the buckets in time order, each once.
LeakSeries merged(LeakSeries series) {
  series = in_order(std::move(series));
  std::vector<LeakBucket> buckets;
  for (const LeakBucket& bucket : series.buckets) {
    if (!buckets.empty() && buckets.back().from_ms == bucket.from_ms) {
      merge(buckets.back(), bucket, series.width_ms);
    } else {
      buckets.push_back(bucket);
    }
  }
  series.buckets = std::move(buckets);
  return series;
}

// Appends an interval: a bucket, several unchanged buckets, or a part of one.
void append(const Interval& interval, LeakSeries& series) {
  const auto min = static_cast<double>(interval.min.value_or(*interval.mean));
  const auto mean = static_cast<double>(*interval.mean);
  const auto max = static_cast<double>(interval.max.value_or(*interval.mean));
  const std::int64_t length_ms = interval.until_ms - interval.from_ms;
  const std::int64_t count = std::max<std::int64_t>((length_ms + series.width_ms - 1) / series.width_ms, 1);
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t at_ms = interval.from_ms + at * series.width_ms;
    const LeakBucket bucket{at_ms - at_ms % series.width_ms, interval.covered_ms / count, min, mean, max, 0};
    if (!series.buckets.empty() && series.buckets.back().from_ms == bucket.from_ms) {
      merge(series.buckets.back(), bucket, series.width_ms);
    } else {
      series.buckets.push_back(bucket);
    }
  }
}

// Builds a series. Values that are valid from tick to tick are split into buckets; stored buckets are kept.
class SeriesMaker {
 public:
  explicit SeriesMaker(const LeakSource& source)
      : cuts_(bucket_ms(source.tier) != source.width_ms), cut_(source.width_ms), taken_{{}, source.width_ms} {}

  void add(const Interval& interval) {
    if (!interval.mean) return;
    if (!cuts_) return append(interval, taken_);
    cut_.hold(interval.from_ms, interval.until_ms, static_cast<double>(*interval.mean));
  }
  LeakSeries take() { return merged(cuts_ ? cut_.take() : std::move(taken_)); }

 private:
  bool cuts_;
  LeakRollup cut_;
  LeakSeries taken_;
};

// Unknown swap counts as 0.
Interval sum_of(const Interval& anon, const Interval& swap) {
  Interval sum = anon;
  if (!anon.mean) return sum;
  sum.min = anon.min.value_or(0) + swap.min.value_or(0);
  sum.mean = *anon.mean + swap.mean.value_or(0);
  sum.max = anon.max.value_or(0) + swap.max.value_or(0);
  return sum;
}

// Visits anon + swap of each subject.
Status visit_held(Reader& reader, const LeakSource& source, SubjectKind kind, std::optional<std::int64_t> subject_id,
                  const std::function<void(const SubjectInterval&)>& visit) {
  SubjectInterval held;
  const HistoryQuery question{source.tier, kind, subject_id, source.range, {Metric::anon, Metric::swap}, true};
  return reader.history(question, [&](const SubjectInterval& of) {
    if (of.metric == Metric::anon) {
      held = of;
      return;
    }
    held.interval = sum_of(held.interval, of.interval);
    visit(held);
  });
}

// Sums the processes of an identity: ticks have no values of identities.
Result<PoolSeries> sum_members(Reader& reader, const LeakSource& source, const std::vector<StoredLife>& members) {
  std::unordered_set<std::int64_t> ids;
  for (const StoredLife& member : members) ids.insert(member.process_id);
  GroupSum sum;
  TRY(visit_held(reader, source, SubjectKind::process, {}, [&](const SubjectInterval& held) {
    if (ids.contains(held.subject_id)) sum.add(held.subject_id, held.interval, false, held.pass);
  }));
  SeriesMaker total(source);
  SeriesMaker count(source);
  sum.visit([&](const GroupInterval& of) {
    if (!of.interval.mean) return;
    total.add(of.interval);
    count.add(constant(of.interval.from_ms, of.interval.until_ms, of.members));
  });
  return PoolSeries{total.take(), count.take()};
}

const LeakBucket* bucket_at(const LeakSeries& series, std::int64_t from_ms) {
  return find_sorted(series.buckets, from_ms, &LeakBucket::from_ms);
}

// Returns all values of one field, or the means of a field less others. A field that the kernel does not have counts as
// 0.
LeakSeries weigh(const MachineSum& sum, const std::map<Metric, LeakSeries>& series) {
  const LeakSeries& whole = series.at(metric_of(sum.of));
  if (sum.less.empty()) return whole;
  LeakSeries all{{}, whole.width_ms};
  for (const LeakBucket& bucket : whole.buckets) {
    double mean = bucket_at(whole, bucket.from_ms)->mean;
    for (const MachineField field : sum.less) {
      const LeakBucket* part = bucket_at(series.at(metric_of(field)), bucket.from_ms);
      if (part != nullptr) mean -= part->mean;
    }
    all.buckets.push_back({bucket.from_ms, bucket.covered_ms, mean, mean, mean, 0});
  }
  return all;
}

}  // namespace

LeakSeries in_order(LeakSeries series) {
  if (!std::ranges::is_sorted(series.buckets, {}, &LeakBucket::from_ms))
    std::ranges::stable_sort(series.buckets, {}, &LeakBucket::from_ms);
  return series;
}

LeakSource leak_source(Range range, const LeakSettings& settings) {
  const std::int64_t width_ms = leak_bucket_ms(range.to_ms - range.from_ms, settings);
  if (settings.hour_ms < kHourMs) return {range, {}, width_ms};  // the series is made of ticks
  const bool long_ago = range.to_ms - range.from_ms > kHoursOfDays * settings.hour_ms;
  const Tier tier = long_ago ? Tier::day : width_ms < kHourMs ? Tier::five_minutes : Tier::hour;
  return {range, tier, bucket_ms(tier)};
}

LeakSource fine_leak_source(Range range) {
  return {range, Tier::five_minutes, bucket_ms(Tier::five_minutes)};
}

Result<std::map<std::int64_t, LeakSeries>> process_series(Reader& reader, const LeakSource& source,
                                                          const std::vector<std::optional<std::int64_t>>& ids) {
  std::map<std::int64_t, SeriesMaker> makers;
  auto of = makers.end();  // intervals of one process are often consecutive
  for (const std::optional<std::int64_t>& id : ids) {
    TRY(visit_held(reader, source, SubjectKind::process, id, [&](const SubjectInterval& held) {
      if (of == makers.end() || of->first != held.subject_id) of = makers.try_emplace(held.subject_id, source).first;
      of->second.add(held.interval);
    }));
  }
  std::map<std::int64_t, LeakSeries> series;
  for (auto& [id, maker] : makers) series.emplace(id, maker.take());
  return series;
}

Result<PoolSeries> pool_series(Reader& reader, const LeakSource& source, std::int64_t identity_id,
                               const std::vector<StoredLife>& members) {
  if (!kept_kind(source.tier, "identity")) return sum_members(reader, source, members);
  SeriesMaker sum(source);
  SeriesMaker count(source);
  TRY(visit_held(reader, source, SubjectKind::identity, identity_id, [&](const SubjectInterval& held) {
    sum.add(held.interval);
    Interval processes = held.interval;
    processes.min = processes.mean = processes.max = held.processes;
    count.add(processes);
  }));
  return PoolSeries{sum.take(), count.take()};
}

Result<std::vector<LeakSeries>> machine_series(Reader& reader, const LeakSource& source,
                                               const std::vector<MachineSum>& sums) {
  std::map<Metric, SeriesMaker> makers;
  for (const MachineSum& sum : sums) {
    makers.try_emplace(metric_of(sum.of), source);
    for (const MachineField field : sum.less) makers.try_emplace(metric_of(field), source);
  }
  TRY(reader.history({source.tier, SubjectKind::machine, {}, source.range, keys_of(makers), true},
                     [&](const SubjectInterval& of) { makers.at(of.metric).add(of.interval); }));
  std::map<Metric, LeakSeries> series;
  for (auto& [metric, maker] : makers) series.emplace(metric, maker.take());
  return transformed(sums, [&series](const MachineSum& sum) { return weigh(sum, series); });
}

Result<LeakSeries> zombie_series(Reader& reader, const LeakSource& source, const LeakSettings& settings) {
  const std::vector<StoredZombies> ticks = TRY(load_zombies(reader, source.range));
  std::vector<LeakSample> samples;
  samples.reserve(ticks.size());
  for (const StoredZombies& tick : ticks) {
    samples.push_back({tick.at_ms, static_cast<double>(tick.zombies), std::nullopt, 0});
  }
  std::ranges::stable_sort(samples, {}, &LeakSample::at_ms);
  return roll_up(samples, settings);
}

}  // namespace memoir::query
