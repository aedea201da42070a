#pragma once

// Steps of one metric, from ticks or from rollups: what a command folds does not depend on which. Those of rollups have
// a spread (analysis/ranking.h).

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/bucket_sum.h"
#include "analysis/metric.h"
#include "analysis/ranking.h"
#include "analysis/rolled.h"
#include "store/reader.h"

namespace memoir::query {

// Absent: rollups do not have it.
std::optional<RollupMetric> rollup_metric(Metric metric);

// Buckets of the subjects of a kind, or of one of them, each cut to the range, with its step.
Status visit_buckets(Reader& reader, Tier tier, MarkSubject kind, std::optional<std::int64_t> subject_id, Range range,
                     Metric metric, const std::function<void(const RollupBucket&, const Step&)>& visit);
Step step_of(const RollupBucket& bucket, Metric metric);

// One value of a bucket, for the analysis.
Rolled rolled(std::int64_t from_ms, std::int64_t until_ms, std::int64_t covered_ms, const RollupValue& value);

struct ProcessMetricStep {
  std::int64_t process_id = 0;
  Step step;
  Source source = Source::inaccessible;  // of ticks
  bool zombie = false;
};

// Of all processes, or of one. Rollups have none of processes that lived for less than one of their buckets.
Status visit_processes(Reader& reader, Tier tier, Range range, Metric metric, std::optional<std::int64_t> process_id,
                       const std::function<void(const ProcessMetricStep&)>& visit);

// The same of rollups, with the processes that they are of: those alone, where a long range knows of very many.
struct RolledProcesses {
  std::vector<StoredProcess> processes;
  std::vector<std::pair<std::int64_t, Step>> steps;  // by process id; those of one in order of time
};
Result<RolledProcesses> read_rolled_processes(Reader& reader, Tier tier, Range range, Metric metric);

struct CategoryMetricStep {
  std::string_view category;
  std::int64_t processes = 0;  // of a bucket the most at one time
  Step step;
};
Status visit_categories(Reader& reader, Tier tier, Range range, Metric metric,
                        const std::function<void(const CategoryMetricStep&)>& visit);

// A metric of the machine, as ticks and as rollups have it.
struct MachineMetric {
  const char* column;  // "mem_available_kib"
  std::optional<std::int64_t> (*value)(const MachineMemory&);
};

// `visit` gets the index of the metric.
Status visit_machine(Reader& reader, Tier tier, Range range, const std::vector<MachineMetric>& metrics,
                     const std::function<void(std::size_t metric, const Step&)>& visit);

// The bucket of a tier (not raw) that holds a time: [from_ms, to_ms).
Range bucket_around(Tier tier, std::int64_t at_ms);

// How much of a span within the range was recorded, for sums over buckets.
Result<BucketSum::Recorded> recorded_time(Reader& reader, Tier tier, Range range);

}  // namespace memoir::query
