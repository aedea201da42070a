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

// Decides which ticks are samples, over all chunks.
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

// Extends the range by 1 ms, so that a tick at its very end is included.
Range with_end(Range range) {
  return {range.from_ms, range.to_ms + 1};
}

// Returns the length of a chunk: six hours, or 72 buckets of a rollup if that is longer. Chunks start at bucket
// boundaries.
std::int64_t chunk_ms(Tier tier) {
  constexpr std::int64_t buckets = 72;
  return std::max(buckets * bucket_ms(tier), kChunkMs);
}

Range whole_buckets(Range range, Tier tier) {
  if (range.to_ms < range.from_ms) return range;
  return {bucket_around(tier, range.from_ms).from_ms, range.to_ms};
}

// Returns the starts of the non-empty buckets in the range.
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
  const BucketMeans means = TRY(load_means(reader, chunk.tier, SubjectKind::process, chunk.ticks));
  std::set<std::int64_t> ids;
  for (const auto& [at_ms, subjects] : means) {
    for (const auto& [id, held] : subjects) ids.insert(id);
  }
  const std::vector<StoredProcess> processes = TRY(load_processes_by_id(reader, {ids.begin(), ids.end()}));
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : processes) {
    if (filter.matches(process)) by_id[process.id] = &process;
  }
  for (const auto& [at_ms, subjects] : means) {
    for (const auto& [id, held] : subjects) {
      const auto process = by_id.find(id);
      if (process != by_id.end()) emit({at_ms, *process->second, held.values()});
    }
  }
  return Done{};
}

Status roll_categories(Reader& reader, const ExportChunk& chunk, const EmitCategory& emit) {
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, SubjectKind::category));
  const BucketMeans means = TRY(load_means(reader, chunk.tier, SubjectKind::category, chunk.ticks));
  for (const auto& [at_ms, subjects] : means) {
    for (const auto& [id, held] : subjects) {
      const auto name = names.find(id);
      if (name != names.end()) emit(at_ms, {name->second, held.processes, held.values()});
    }
  }
  return Done{};
}

Status roll_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit) {
  const BucketMeans means = TRY(load_means(reader, chunk.tier, SubjectKind::machine, chunk.ticks));
  for (const auto& [at_ms, subjects] : means) {
    for (const auto& [id, held] : subjects) emit(at_ms, held.machine());
  }
  return Done{};
}

// Returns the times of ticks, or the starts of buckets, for which the boot clock is 0.
Result<std::vector<Moment>> times_of(Reader& reader, Tier tier, Range range) {
  if (holds_groups(tier)) {
    return transformed(TRY(rolled_times(reader, tier, range)), [](std::int64_t at_ms) { return Moment{at_ms, 0}; });
  }
  return transformed(TRY(reader.ticks(range)), &StoredTick::begin);
}

// Returns the start of a chunk at or before the next sample, or a time after `to_ms` if there is none. If the clock was
// at 1970 until it was set, decades have no sample, so each searched piece is twice as long as the previous one. A
// piece consists of whole chunks.
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

Result<std::int64_t> for_each_chunk(Reader& reader, const ExportQuery& question,
                                    const std::function<Status(const ExportChunk&)>& visit) {
  Picker picker(question.step_ms);
  const Tier tier = question.tier;
  const Range whole = whole_buckets(question.range, tier);
  for (std::int64_t from = whole.from_ms; from <= whole.to_ms;) {
    ExportChunk chunk{{from, std::min(from + chunk_ms(tier) - 1, whole.to_ms)}, {}, {}, {}, tier};
    const std::vector<Moment> times = TRY(times_of(reader, tier, chunk.range));
    from += chunk_ms(tier);
    if (times.empty()) from = TRY(past_nothing(reader, tier, from, whole.to_ms));
    for (const Moment& at : times) {
      if (!picker.takes(at.wall_ms)) continue;
      chunk.ticks.push_back(at.wall_ms);
      chunk.boot_ms.push_back(at.boot_ms);
    }
    if (chunk.ticks.empty()) continue;
    const Coverage coverage = TRY(reader.coverage(with_end(chunk.range)));
    for (const Gap& gap : coverage.gaps) chunk.ends.insert(gap.from_ms);
    TRY(visit(chunk));
  }
  return picker.backward();
}

ExportChunk part_of(const ExportChunk& chunk, std::size_t first, std::size_t most) {
  const std::size_t end = std::min(first + most, chunk.ticks.size());
  const auto part = [&](const std::vector<std::int64_t>& of) {
    return std::vector(of.begin() + static_cast<std::ptrdiff_t>(first), of.begin() + static_cast<std::ptrdiff_t>(end));
  };
  // Starts at the previous tick, because the state of the last tick of a recording started earlier.
  const std::int64_t from_ms = first == 0 ? chunk.range.from_ms : chunk.ticks[first - 1] + 1;
  const std::int64_t to_ms = end == chunk.ticks.size() ? chunk.range.to_ms : chunk.ticks[end] - 1;
  return {{from_ms, to_ms}, part(chunk.ticks), part(chunk.boot_ms), chunk.ends, chunk.tier};
}

Status sample_processes(Reader& reader, const ExportChunk& chunk, const Filter& filter, const EmitProcess& emit) {
  if (holds_groups(chunk.tier)) return roll_processes(reader, chunk, filter, emit);
  std::int64_t left_out = 0;
  std::vector<StoredProcess> processes = TRY(load_processes(reader, chunk.range, &left_out));
  if (left_out > 0 && chunk.ticks.size() > 1) {
    processes = {};  // frees the memory before the halves need it
    const std::size_t half = chunk.ticks.size() / 2;
    TRY(sample_processes(reader, part_of(chunk, 0, half), filter, emit));
    return sample_processes(reader, part_of(chunk, half, chunk.ticks.size()), filter, emit);
  }
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : processes) {
    if (filter.matches(process)) by_id[process.id] = &process;
  }
  Resampler<std::int64_t, ProcessSample> resampler(
      chunk, [&](std::size_t tick, std::int64_t id, const ProcessSample& sample) {
        const StoredProcess& process = *by_id.at(id);
        const std::int64_t tick_ms = chunk.ticks[tick];
        if (!process.exited_ms || tick_ms < *process.exited_ms)
          emit({tick_ms, process, metric_values(sample.memory), &sample, chunk.boot_ms[tick]});
      });
  TRY(visit_samples(reader, with_end(chunk.range), [&](const SampleSpan<ProcessSample>& held) {
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
  TRY(visit_samples(reader, with_end(chunk.range), [&](const SampleSpan<CategorySample>& held) {
    resampler.add(held.sample->category, held.from_ms, held.until_ms, *held.sample);
  }));
  resampler.finish();
  return Done{};
}

Status sample_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit) {
  if (holds_groups(chunk.tier)) return roll_machine(reader, chunk, emit);
  Resampler<int, MachineMemory> resampler(
      chunk, [&](std::size_t tick, int, const MachineMemory& memory) { emit(chunk.ticks[tick], memory); });
  TRY(visit_samples(reader, with_end(chunk.range), [&](const SampleSpan<MachineMemory>& held) {
    resampler.add(0, held.from_ms, held.until_ms, *held.sample);
  }));
  resampler.finish();
  return Done{};
}

}  // namespace memoir::query
