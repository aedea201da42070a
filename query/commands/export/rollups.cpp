#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/rolled.h"
#include "query/answer/state.h"
#include "query/commands/export/export.h"

namespace memoir::query {
namespace {

// Steps as means of buckets, by their begin and then by Key. A step of several buckets is in each of them, and the
// bucket of the seam comes as two steps.
template <typename Key, typename Means>
class Buckets {
 public:
  explicit Buckets(const ExportChunk& chunk) : chunk_(chunk), width_ms_(bucket_ms(chunk.tier)) {}

  template <typename Add>
  void add(const Key& key, const Step& step, Add&& add) {
    const auto first = std::ranges::lower_bound(chunk_.ticks, step.at_ms - step.at_ms % width_ms_);
    for (auto tick = first; tick != chunk_.ticks.end() && *tick < step.until_ms; ++tick)
      add(means_[*tick][key], clipped(step, *tick, *tick + width_ms_));
  }

  template <typename Visit>
  void visit(Visit&& visit) const {
    for (const auto& [at_ms, subjects] : means_) {
      for (const auto& [key, means] : subjects) visit(at_ms, key, means);
    }
  }

 private:
  const ExportChunk& chunk_;
  std::int64_t width_ms_;
  std::map<std::int64_t, std::map<Key, Means>> means_;
};

struct Held {
  std::array<BucketMean, kMetrics.size()> means;
  std::int64_t processes = 0;
};

// All of the last bucket, though the range may end within it.
Range buckets_of(const ExportChunk& chunk) {
  const std::int64_t width_ms = bucket_ms(chunk.tier);
  return {chunk.range.from_ms, chunk.range.to_ms - chunk.range.to_ms % width_ms + width_ms};
}

Result<Buckets<std::int64_t, Held>> read(Reader& reader, const ExportChunk& chunk, MarkSubject kind) {
  Buckets<std::int64_t, Held> buckets(chunk);
  const Range range = buckets_of(chunk);
  const Status read = reader.rollups({chunk.tier, kind, std::nullopt, range}, [&](const RollupBucket& bucket) {
    for (std::size_t i = 0; i < kMetrics.size(); ++i) {
      const Step step = clipped(step_of(bucket, kMetrics[i]), range.from_ms, range.to_ms);
      buckets.add(bucket.subject_id, step, [&](Held& held, const Step& part) {
        held.means[i].add(part.value, part.covered_ms());
        held.processes = std::max(held.processes, bucket.processes);
      });
    }
  });
  if (!read) return read.error();
  return buckets;
}

// While it lived: who was there for a part of a bucket has the mean of that part.
ProcessMemory memory_of(const Held& held) {
  MetricMeans means;
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = held.means[i].mean();
  return memory_of_means(means);
}

}  // namespace

Result<std::vector<std::int64_t>> rolled_times(Reader& reader, Tier tier, Range range) {
  const std::int64_t width_ms = bucket_ms(tier);
  std::vector<std::int64_t> times;
  const MachineMetric total{"mem_total_kib", nullptr};
  const Status read =
      visit_machine(reader, tier, {range.from_ms, range.to_ms + 1}, {total}, [&](std::size_t, const Step& step) {
        const std::int64_t first = step.at_ms - step.at_ms % width_ms;
        for (std::int64_t at = first; at < step.until_ms; at += width_ms) times.push_back(at);
      });
  if (!read) return read.error();
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

Status roll_processes(Reader& reader, const ExportChunk& chunk, const Filter& filter, const EmitProcess& emit) {
  const auto buckets = TRY(read(reader, chunk, MarkSubject::process));
  std::set<std::int64_t> ids;
  buckets.visit([&ids](std::int64_t, std::int64_t id, const Held&) { ids.insert(id); });
  const std::vector<StoredProcess> processes = TRY(reader.processes_by_id({ids.begin(), ids.end()}));
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : processes) {
    if (filter.matches(process)) by_id[process.id] = &process;
  }
  buckets.visit([&](std::int64_t at_ms, std::int64_t id, const Held& held) {
    const auto process = by_id.find(id);
    if (process == by_id.end()) return;
    ProcessSample sample;
    sample.key = process->second->info.key;
    sample.parent_pid = process->second->info.parent_pid;
    sample.memory = memory_of(held);
    emit(at_ms, *process->second, sample);
  });
  return Done{};
}

Status roll_categories(Reader& reader, const ExportChunk& chunk, const EmitCategory& emit) {
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(MarkSubject::category));
  const auto buckets = TRY(read(reader, chunk, MarkSubject::category));
  buckets.visit([&](std::int64_t at_ms, std::int64_t id, const Held& held) {
    const auto name = names.find(id);
    if (name != names.end()) emit(at_ms, category_of({name->second, held.processes, memory_of(held)}));
  });
  return Done{};
}

Status roll_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit) {
  Buckets<std::size_t, BucketMean> buckets(chunk);
  const Status read =
      visit_machine(reader, chunk.tier, buckets_of(chunk), machine_gauges(), [&](std::size_t field, const Step& step) {
        buckets.add(field, step, [](BucketMean& mean, const Step& part) { mean.add(part.value, part.covered_ms()); });
      });
  if (!read) return read.error();
  std::map<std::int64_t, MachineMemory> memory;
  buckets.visit([&](std::int64_t at_ms, std::size_t field, const BucketMean& mean) {
    memory[at_ms].set(kMachineSizes[field], mean.mean());
  });
  for (const auto& [at_ms, of] : memory) emit(at_ms, of);
  return Done{};
}

}  // namespace memoir::query
