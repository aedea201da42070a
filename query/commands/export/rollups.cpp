#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "query/answer/history.h"
#include "query/commands/export/export.h"

namespace memoir::query {
namespace {

// Means of buckets, by their begin, subject and metric.
class Buckets {
 public:
  Buckets(Reader& reader, const ExportChunk& chunk) : reader_(reader), chunk_(chunk) {}

  Status read(SubjectKind kind, std::vector<Metric> metrics) {
    // All of the last bucket, though the range may end within it.
    const Range range{chunk_.range.from_ms, bucket_around(chunk_.tier, chunk_.range.to_ms).to_ms};
    return reader_.history({chunk_.tier, kind, {}, range, std::move(metrics)},
                           [this](const SubjectInterval& of) { add(of); });
  }

  // `visit(at_ms, subject_id, held)`
  template <typename Visit>
  void visit(Visit&& visit) const {
    for (const auto& [at_ms, subjects] : held_) {
      for (const auto& [id, held] : subjects) visit(at_ms, id, held);
    }
  }

 private:
  // One interval of several buckets is in each of them, and a bucket may come as two.
  void add(const SubjectInterval& of) {
    const auto first = std::ranges::lower_bound(chunk_.ticks, bucket_around(chunk_.tier, of.interval.from_ms).from_ms);
    for (auto tick = first; tick != chunk_.ticks.end() && *tick < of.interval.until_ms; ++tick)
      held_[*tick][of.subject_id].add(of, clipped(of.interval, *tick, *tick + bucket_ms(chunk_.tier)));
  }

  Reader& reader_;
  const ExportChunk& chunk_;
  std::map<std::int64_t, std::map<std::int64_t, MeanState>> held_;
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
        const std::int64_t first = bucket_around(tier, of.interval.from_ms).from_ms;
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
  buckets.visit([&ids](std::int64_t, std::int64_t id, const MeanState&) { ids.insert(id); });
  const std::vector<StoredProcess> processes = TRY(reader.processes_by_id({ids.begin(), ids.end()}));
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : processes) {
    if (filter.matches(process)) by_id[process.id] = &process;
  }
  buckets.visit([&](std::int64_t at_ms, std::int64_t id, const MeanState& held) {
    const auto process = by_id.find(id);
    if (process != by_id.end()) emit({at_ms, *process->second, held.values()});
  });
  return Done{};
}

Status roll_categories(Reader& reader, const ExportChunk& chunk, const EmitCategory& emit) {
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(SubjectKind::category));
  Buckets buckets(reader, chunk);
  TRY(buckets.read(SubjectKind::category, process_metrics()));
  buckets.visit([&](std::int64_t at_ms, std::int64_t id, const MeanState& held) {
    const auto name = names.find(id);
    if (name != names.end()) emit(at_ms, {name->second, held.processes, held.values()});
  });
  return Done{};
}

Status roll_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit) {
  Buckets buckets(reader, chunk);
  TRY(buckets.read(SubjectKind::machine, machine_size_metrics()));
  buckets.visit([&](std::int64_t at_ms, std::int64_t, const MeanState& held) {
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
