#include "query/answer/tier_steps.h"

#include <algorithm>
#include <set>

namespace memoir::query {

namespace {

Step step_of(std::int64_t from_ms, std::int64_t until_ms, std::int64_t covered_ms, const RollupValue& value) {
  return {from_ms, until_ms, value.mean,
          Spread{covered_ms, value.min, value.max, value.last, value.min_at_ms, value.max_at_ms, value.exact}};
}

// A bucket that only touches the range has nothing in it.
template <typename Visit>
void visit_inside(const Step& step, Range range, Visit&& visit) {
  const Step part = clipped(step, range.from_ms, range.to_ms);
  if (part.at_ms < part.until_ms) visit(part);
}

}  // namespace

std::optional<RollupMetric> rollup_metric(Metric metric) {
  switch (metric) {
    case Metric::pss:
      return RollupMetric::pss;
    case Metric::rss:
      return RollupMetric::rss;
    case Metric::uss:
      return RollupMetric::uss;
    case Metric::anon:
      return RollupMetric::anon;
    case Metric::swap:
      return RollupMetric::swap;
    case Metric::swap_pss:
      return RollupMetric::swap_pss;
    case Metric::hwm:
      break;
  }
  return std::nullopt;
}

Step step_of(const RollupBucket& bucket, Metric metric) {
  const auto rolled = rollup_metric(metric);
  return step_of(bucket.from_ms, bucket.until_ms, bucket.covered_ms, rolled ? bucket[*rolled] : RollupValue{});
}

Status visit_buckets(Reader& reader, Tier tier, MarkSubject kind, std::optional<std::int64_t> subject_id, Range range,
                     Metric metric, const std::function<void(const RollupBucket&, const Step&)>& visit) {
  RollupQuestion question{tier, kind, subject_id, range};
  if (const auto rolled = rollup_metric(metric)) question.metrics = {*rolled};
  return reader.rollups(question, [&](const RollupBucket& bucket) {
    visit_inside(step_of(bucket, metric), range, [&](const Step& step) { visit(bucket, step); });
  });
}

Status visit_processes(Reader& reader, Tier tier, Range range, Metric metric, std::optional<std::int64_t> process_id,
                       const std::function<void(const ProcessMetricStep&)>& visit) {
  if (tier != Tier::raw) {
    return visit_buckets(reader, tier, MarkSubject::process, process_id, range, metric,
                         [&](const RollupBucket& bucket, const Step& step) {
                           visit({bucket.subject_id, step});
                         });
  }
  const auto value = [metric](const ProcessMemory& memory) { return metric_kib(memory, metric); };
  return reader.process_values({range, process_id, metric_fields(metric), value}, [&](const ValueStep& step) {
    visit({step.process_id, {step.at_ms, step.until_ms, step.value}, step.source, step.zombie});
  });
}

Result<RolledProcesses> read_rolled_processes(Reader& reader, Tier tier, Range range, Metric metric) {
  RolledProcesses rolled;
  std::set<std::int64_t> ids;
  const Status read = visit_buckets(reader, tier, MarkSubject::process, std::nullopt, range, metric,
                                    [&](const RollupBucket& bucket, const Step& step) {
                                      ids.insert(bucket.subject_id);
                                      rolled.steps.emplace_back(bucket.subject_id, step);
                                    });
  if (!read) return read.error();
  rolled.processes = TRY(reader.processes_by_id({ids.begin(), ids.end()}));
  return rolled;
}

Status visit_categories(Reader& reader, Tier tier, Range range, Metric metric,
                        const std::function<void(const CategoryMetricStep&)>& visit) {
  if (tier == Tier::raw) {
    return reader.category_steps(range, [&](const CategoryStep& step) {
      visit({step.sample->category,
             step.sample->processes,
             {step.at_ms, step.until_ms, metric_kib(*step.sample, metric)}});
    });
  }
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(MarkSubject::category));
  return visit_buckets(reader, tier, MarkSubject::category, std::nullopt, range, metric,
                       [&](const RollupBucket& bucket, const Step& step) {
                         const auto name = names.find(bucket.subject_id);
                         if (name != names.end()) visit({name->second, bucket.processes, step});
                       });
}

Status visit_machine(Reader& reader, Tier tier, Range range, const std::vector<MachineMetric>& metrics,
                     const std::function<void(std::size_t metric, const Step&)>& visit) {
  if (tier == Tier::raw) {
    return reader.machine_steps(range, [&](const MachineStep& step) {
      for (std::size_t i = 0; i < metrics.size(); ++i)
        visit(i, {step.at_ms, step.until_ms, metrics[i].value(*step.memory)});
    });
  }
  std::vector<std::string> columns;
  columns.reserve(metrics.size());
  for (const MachineMetric& metric : metrics) columns.emplace_back(metric.column);
  return reader.machine_rollups(tier, columns, range, [&](const MachineBucket& bucket) {
    const auto index = std::ranges::find(columns, bucket.metric) - columns.begin();
    visit_inside(step_of(bucket.from_ms, bucket.until_ms, bucket.covered_ms, bucket.value), range,
                 [&](const Step& step) { visit(static_cast<std::size_t>(index), step); });
  });
}

Range bucket_around(Tier tier, std::int64_t at_ms) {
  const std::int64_t width_ms = bucket_ms(tier);
  const std::int64_t from_ms = at_ms - at_ms % width_ms;
  return {from_ms, from_ms + width_ms};
}

Result<BucketSum::Recorded> recorded_time(Reader& reader, Tier tier, Range range) {
  const Range buckets{bucket_around(tier, range.from_ms).from_ms, bucket_around(tier, range.to_ms).to_ms};
  const Coverage coverage = TRY(reader.coverage(buckets));
  return BucketSum::Recorded([gaps = coverage.gaps](std::int64_t from_ms, std::int64_t until_ms) {
    std::int64_t recorded_ms = until_ms - from_ms;
    for (const Gap& gap : gaps)
      recorded_ms -= std::max<std::int64_t>(std::min(gap.to_ms, until_ms) - std::max(gap.from_ms, from_ms), 0);
    return recorded_ms;
  });
}

Rolled rolled(std::int64_t from_ms, std::int64_t until_ms, std::int64_t covered_ms, const RollupValue& value) {
  return {from_ms,   until_ms,   covered_ms,      value.min,       value.mean,
          value.max, value.last, value.min_at_ms, value.max_at_ms, value.exact};
}

}  // namespace memoir::query
