#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/rolled.h"
#include "query/answer/state.h"
#include "query/commands/export/export.h"

namespace memoir::query {
namespace {

// Means of buckets, by their begin, subject and metric.
class Buckets {
 public:
  Buckets(Reader& reader, const ExportChunk& chunk) : reader_(reader), chunk_(chunk) {}

  Status read(SubjectKind kind, std::vector<Metric> metrics) {
    const std::int64_t width_ms = bucket_ms(chunk_.tier);
    // All of the last bucket, though the range may end within it.
    const Range range{chunk_.range.from_ms, chunk_.range.to_ms - chunk_.range.to_ms % width_ms + width_ms};
    return reader_.history({chunk_.tier, kind, {}, range, std::move(metrics)},
                           [&](const SubjectInterval& of) { add(of, width_ms); });
  }

  // `visit(at_ms, subject_id, held)`
  template <typename Visit>
  void visit(Visit&& visit) const {
    for (const auto& [at_ms, subjects] : held_) {
      for (const auto& [id, held] : subjects) visit(at_ms, id, held);
    }
  }

  struct Held {
    std::map<Metric, BucketMean> means;
    std::int64_t processes = 0;

    // While it lived: who was there for a part of a bucket has the mean of that part.
    MetricValues kib() const {
      MetricValues values;
      for (const auto& [metric, mean] : means) values[metric] = mean.mean();
      return values;
    }
  };

 private:
  // One interval of several buckets is in each of them, and a bucket may come as two.
  void add(const SubjectInterval& of, std::int64_t width_ms) {
    const std::int64_t from_ms = of.interval.from_ms;
    const auto first = std::ranges::lower_bound(chunk_.ticks, from_ms - from_ms % width_ms);
    for (auto tick = first; tick != chunk_.ticks.end() && *tick < of.interval.until_ms; ++tick) {
      const Interval part = clipped(of.interval, *tick, *tick + width_ms);
      Held& held = held_[*tick][of.subject_id];
      held.means[of.metric].add(part.mean, part.covered_ms);
      held.processes = std::max(held.processes, of.processes);
    }
  }

  Reader& reader_;
  const ExportChunk& chunk_;
  std::map<std::int64_t, std::map<std::int64_t, Held>> held_;
};

std::vector<Metric> process_metrics() {
  return {kRolledMetrics.begin(), kRolledMetrics.end()};
}

}  // namespace

Result<std::vector<std::int64_t>> rolled_times(Reader& reader, Tier tier, Range range) {
  const std::int64_t width_ms = bucket_ms(tier);
  std::vector<std::int64_t> times;
  TRY(reader.history(
      {tier, SubjectKind::machine, {}, {range.from_ms, range.to_ms + 1}, {metric_of(MachineField::mem_total)}},
      [&](const SubjectInterval& of) {
        const std::int64_t first = of.interval.from_ms - of.interval.from_ms % width_ms;
        for (std::int64_t at = first; at < of.interval.until_ms; at += width_ms) times.push_back(at);
      }));
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

Status roll_processes(Reader& reader, const ExportChunk& chunk, const Filter& filter, const EmitProcess& emit) {
  Buckets buckets(reader, chunk);
  TRY(buckets.read(SubjectKind::process, process_metrics()));
  std::set<std::int64_t> ids;
  buckets.visit([&ids](std::int64_t, std::int64_t id, const Buckets::Held&) { ids.insert(id); });
  const std::vector<StoredProcess> processes = TRY(reader.processes_by_id({ids.begin(), ids.end()}));
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : processes) {
    if (filter.matches(process)) by_id[process.id] = &process;
  }
  buckets.visit([&](std::int64_t at_ms, std::int64_t id, const Buckets::Held& held) {
    const auto process = by_id.find(id);
    if (process != by_id.end()) emit({at_ms, *process->second, held.kib()});
  });
  return Done{};
}

Status roll_categories(Reader& reader, const ExportChunk& chunk, const EmitCategory& emit) {
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(SubjectKind::category));
  Buckets buckets(reader, chunk);
  TRY(buckets.read(SubjectKind::category, process_metrics()));
  buckets.visit([&](std::int64_t at_ms, std::int64_t id, const Buckets::Held& held) {
    const auto name = names.find(id);
    if (name != names.end()) emit(at_ms, {name->second, held.processes, held.kib()});
  });
  return Done{};
}

Status roll_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit) {
  Buckets buckets(reader, chunk);
  TRY(buckets.read(SubjectKind::machine, machine_size_metrics()));
  buckets.visit([&](std::int64_t at_ms, std::int64_t, const Buckets::Held& held) {
    MachineMemory memory;
    for (const MachineField field : kMachineSizes) {
      const auto mean = held.means.find(metric_of(field));
      if (mean != held.means.end()) memory.set(field, mean->second.mean());
    }
    emit(at_ms, memory);
  });
  return Done{};
}

}  // namespace memoir::query
