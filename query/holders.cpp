#include "query/holders.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/rolled.h"
#include "query/state.h"
#include "query/tier.h"
#include "query/tier_steps.h"

namespace memoir::query {

namespace {

constexpr std::size_t kAtOnce = 8;  // processes that are read together

// Means over the recorded time of a bucket, by process; the largest first.
Result<std::vector<std::pair<std::int64_t, std::int64_t>>> held_in(Reader& reader, Tier tier, Range bucket) {
  BucketMean total;
  const Status machine =
      visit_machine(reader, tier, bucket, {machine_gauge(MachineField::mem_total)},
                    [&](std::size_t, const Step& step) { total.add(step.value, step.covered_ms()); });
  if (!machine) return machine.error();
  // The bucket of the seam comes as two.
  std::map<std::int64_t, BucketMean> means;
  const Status read = visit_buckets(
      reader, tier, MarkSubject::process, std::nullopt, bucket, Metric::pss,
      [&](const RollupBucket& of, const Step& step) { means[of.subject_id].add(step.value, step.covered_ms()); });
  if (!read) return read.error();
  std::vector<std::pair<std::int64_t, std::int64_t>> held;
  for (const auto& [process_id, mean] : means) {
    if (const auto kib = mean.over(total.covered_ms())) held.emplace_back(process_id, *kib);
  }
  std::ranges::stable_sort(held, [](const auto& a, const auto& b) { return a.second > b.second; });
  return held;
}

Result<Holders> largest_in(Reader& reader, Tier tier, Range bucket, std::size_t most,
                           const std::function<bool(const StoredProcess&)>& takes) {
  const auto held = held_in(reader, tier, bucket);
  if (!held) return held.error();
  Holders holders{{}, true};
  for (std::size_t begin = 0; begin < held->size() && holders.largest.size() < most; begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, held->size());
    std::vector<std::int64_t> ids;
    for (std::size_t i = begin; i < end; ++i) ids.push_back((*held)[i].first);
    const Result<std::vector<StoredProcess>> processes = reader.processes_by_id(ids);
    if (!processes) return processes.error();
    for (std::size_t i = begin; i < end && holders.largest.size() < most; ++i) {
      const auto process = std::ranges::find(*processes, (*held)[i].first, &StoredProcess::id);
      if (process != processes->end() && takes(*process)) holders.largest.push_back({*process, (*held)[i].second});
    }
  }
  return holders;
}

}  // namespace

Result<Holders> largest_holders(const Context& context, std::int64_t at_ms, std::optional<Tier> in_bucket_of,
                                std::size_t most, const std::function<bool(const StoredProcess&)>& takes) {
  if (context.file.ticks == 0 || at_ms < context.file.first_tick_ms) return Holders{};
  const Result<Tier> tier = in_bucket_of ? Result(*in_bucket_of) : tier_of(context, {at_ms, at_ms}, Reads::all);
  if (!tier) return tier.error();
  if (*tier != Tier::raw) {
    const Result<std::int64_t> recorded_ms = recorded_at(context, at_ms);
    if (!recorded_ms) return recorded_ms.error();
    return largest_in(context.reader, *tier, bucket_around(*tier, *recorded_ms), most, takes);
  }
  const Result<std::optional<StoredTick>> tick = context.reader.tick_at(at_ms);
  if (!tick) return tick.error();
  if (!*tick) return Holders{};
  Result<std::vector<Holder>> largest = context.reader.largest_at((*tick)->id, most, takes);
  if (!largest) return largest.error();
  return Holders{*std::move(largest), false};
}

}  // namespace memoir::query
