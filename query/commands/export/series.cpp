#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "query/commands/export/export.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "store/names.h"
#include "store/samples.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kChunkMs = 6 * 3600 * std::int64_t{1000};

// Which ticks are samples, over all chunks.
class Picker {
 public:
  explicit Picker(std::int64_t step_ms) : step_ms_(step_ms) {}

  bool takes(std::int64_t tick_ms) {
    if (tick_ms <= last_ms_) {
      ++backward_;
      return false;
    }
    last_ms_ = tick_ms;
    if (step_ms_ == 0) return true;
    const std::int64_t step = tick_ms / step_ms_;
    return std::exchange(last_step_, step) != step;
  }
  std::int64_t backward() const { return backward_; }

 private:
  std::int64_t step_ms_;
  std::int64_t last_ms_ = -1;
  std::int64_t last_step_ = -1;
  std::int64_t backward_ = 0;
};

// Samples reach to the end of what is asked for; a tick at the very end still holds.
Range with_end(Range range) {
  return {range.from_ms, range.to_ms + 1};
}

// As many buckets of a rollup as a chunk of ticks has of 5 minutes; chunks begin where buckets do.
std::int64_t chunk_ms(Tier tier) {
  constexpr std::int64_t buckets = 72;
  return std::max(buckets * bucket_ms(tier), kChunkMs);
}

Range whole_buckets(Range range, Tier tier) {
  if (range.to_ms < range.from_ms) return range;
  return {bucket_around(tier, range.from_ms).from_ms, range.to_ms};
}

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

// The begins of the buckets that have something recorded, in the range.
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
  const std::vector<StoredProcess> processes = TRY(load_processes_by_id(reader, {ids.begin(), ids.end()}));
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
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, SubjectKind::category));
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

Result<std::vector<std::int64_t>> times_of(Reader& reader, Tier tier, Range range) {
  if (holds_groups(tier)) return rolled_times(reader, tier, range);
  return each_of(TRY(reader.ticks(range)), [](const StoredTick& tick) { return tick.begin.wall_ms; });
}

// The begin of a chunk at or before the next sample; beyond `to_ms` if there is none. A clock that stood at 1970 until
// it was set leaves decades of nothing: ever longer pieces are looked through, each of whole chunks.
Result<std::int64_t> past_nothing(Reader& reader, Tier tier, std::int64_t from_ms, std::int64_t to_ms) {
  const std::int64_t widest_ms = chunk_ms(tier) << 24;
  std::int64_t width_ms = chunk_ms(tier);
  while (from_ms <= to_ms) {
    const auto times = TRY(times_of(reader, tier, {from_ms, std::min(from_ms + width_ms - 1, to_ms)}));
    if (!times.empty()) break;
    from_ms += width_ms;
    width_ms = std::min(2 * width_ms, widest_ms);
  }
  return from_ms;
}

}  // namespace

Result<std::int64_t> for_each_chunk(Reader& reader, const ExportQuestion& question,
                                    const std::function<Status(const ExportChunk&)>& visit) {
  Picker picker(question.step_ms);
  const Tier tier = question.tier;
  const Range whole = whole_buckets(question.range, tier);
  for (std::int64_t from = whole.from_ms; from <= whole.to_ms;) {
    ExportChunk chunk{{from, std::min(from + chunk_ms(tier) - 1, whole.to_ms)}, {}, {}, tier};
    const std::vector<std::int64_t> times = TRY(times_of(reader, tier, chunk.range));
    from += chunk_ms(tier);
    if (times.empty()) from = TRY(past_nothing(reader, tier, from, whole.to_ms));
    for (const std::int64_t at_ms : times) {
      if (picker.takes(at_ms)) chunk.ticks.push_back(at_ms);
    }
    if (chunk.ticks.empty()) continue;
    const Coverage coverage = TRY(reader.coverage(with_end(chunk.range)));
    for (const Gap& gap : coverage.gaps) chunk.ends.insert(gap.from_ms);
    TRY(visit(chunk));
  }
  return picker.backward();
}

Status sample_processes(Reader& reader, const ExportChunk& chunk, const Filter& filter, const EmitProcess& emit) {
  if (holds_groups(chunk.tier)) return roll_processes(reader, chunk, filter, emit);
  const std::vector<StoredProcess> processes = TRY(load_processes(reader, chunk.range));
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : processes) {
    if (filter.matches(process)) by_id[process.id] = &process;
  }
  Resampler<std::int64_t, ProcessSample> resampler(chunk,
                                                   [&](std::size_t tick, std::int64_t id, const ProcessSample& sample) {
                                                     const StoredProcess& process = *by_id.at(id);
                                                     const std::int64_t tick_ms = chunk.ticks[tick];
                                                     if (!process.gone_ms || tick_ms < *process.gone_ms)
                                                       emit({tick_ms, process, metric_values(sample.memory), &sample});
                                                   });
  TRY(visit_samples(reader, with_end(chunk.range), [&](const HeldSample<ProcessSample>& held) {
    if (by_id.contains(held.subject_id)) resampler.add(held.subject_id, held.from_ms, held.until_ms, *held.sample);
  }));
  resampler.finish();
  return Done{};
}

Status sample_categories(Reader& reader, const ExportChunk& chunk, const EmitCategory& emit) {
  if (holds_groups(chunk.tier)) return roll_categories(reader, chunk, emit);
  Resampler<std::string, CategorySample> resampler(
      chunk, [&](std::size_t tick, const std::string& name, const CategorySample& sample) {
        if (sample.processes > 0)
          emit(chunk.ticks[tick], {name, sample.processes, metric_values(sample), sample.inexact});
      });
  TRY(visit_samples(reader, with_end(chunk.range), [&](const HeldSample<CategorySample>& held) {
    resampler.add(held.sample->category, held.from_ms, held.until_ms, *held.sample);
  }));
  resampler.finish();
  return Done{};
}

Status sample_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit) {
  if (holds_groups(chunk.tier)) return roll_machine(reader, chunk, emit);
  Resampler<int, MachineMemory> resampler(
      chunk, [&](std::size_t tick, int, const MachineMemory& memory) { emit(chunk.ticks[tick], memory); });
  TRY(visit_samples(reader, with_end(chunk.range), [&](const HeldSample<MachineMemory>& held) {
    resampler.add(0, held.from_ms, held.until_ms, *held.sample);
  }));
  resampler.finish();
  return Done{};
}

}  // namespace memoir::query
