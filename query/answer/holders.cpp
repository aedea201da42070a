#include "query/answer/holders.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/ranking.h"
#include "analysis/rolled.h"
#include "query/answer/tier.h"
#include "query/answer/tier_steps.h"

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
  const auto held = TRY(held_in(reader, tier, bucket));
  Holders holders{{}, true};
  for (std::size_t begin = 0; begin < held.size() && holders.largest.size() < most; begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, held.size());
    std::vector<std::int64_t> ids;
    for (std::size_t i = begin; i < end; ++i) ids.push_back(held[i].first);
    const std::vector<StoredProcess> processes = TRY(reader.processes_by_id(ids));
    for (std::size_t i = begin; i < end && holders.largest.size() < most; ++i) {
      const auto process = std::ranges::find(processes, held[i].first, &StoredProcess::id);
      if (process != processes.end() && takes(*process)) holders.largest.push_back({*process, held[i].second});
    }
  }
  return holders;
}

// The largest first. Groups of one name are one: identities may differ in the program's path.
std::vector<GroupState> merged(const std::vector<GroupState>& groups) {
  std::map<std::string, GroupState> by_name;
  for (const GroupState& group : groups) {
    GroupState& of = by_name[group.name];
    of.name = group.name;
    of.processes += group.processes;
    of.memory.set(ProcessField::pss,
                  of.memory.or_zero(ProcessField::pss) + metric_kib(group.memory, Metric::pss).value_or(0));
  }
  std::vector<GroupState> all;
  all.reserve(by_name.size());
  for (auto& [name, group] : by_name) all.push_back(std::move(group));
  std::ranges::stable_sort(all, [](const GroupState& a, const GroupState& b) {
    return ranks_before(metric_kib(a.memory, Metric::pss), metric_kib(b.memory, Metric::pss));
  });
  return all;
}

GroupState group_of(std::string name, std::int64_t processes, std::int64_t kib) {
  GroupState group{std::move(name), processes, {}};
  group.memory.set(ProcessField::pss, kib);
  return group;
}

Result<std::vector<GroupState>> categories_at(Reader& reader, std::int64_t tick_ms) {
  std::map<std::string, GroupState> last;
  const Status read = reader.category_steps({tick_ms, tick_ms}, [&last](const CategoryStep& step) {
    last[step.sample->category] = group_of(step.sample->category, step.sample->processes, step.sample->pss_kib);
  });
  if (!read) return read.error();
  std::vector<GroupState> groups;
  groups.reserve(last.size());
  for (auto& [name, group] : last) groups.push_back(std::move(group));
  return groups;
}

Result<std::vector<GroupState>> identities_at(Reader& reader, std::int64_t tick_ms) {
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(MarkSubject::identity));
  const std::vector<StoredLife> lives = TRY(reader.lives({tick_ms, tick_ms}));
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> held;
  const Status read =
      visit_processes(reader, Tier::raw, {tick_ms, tick_ms}, Metric::pss, std::nullopt,
                      [&held](const ProcessMetricStep& step) { held[step.process_id] = step.step.value; });
  if (!read) return read.error();
  std::vector<GroupState> groups;
  for (const StoredLife& life : lives) {
    const auto kib = held.find(life.process_id);
    const auto name = names.find(life.identity_id);
    if (kib == held.end() || name == names.end() || (life.gone_ms && *life.gone_ms <= tick_ms)) continue;
    groups.push_back(group_of(name->second, 1, kib->second.value_or(0)));
  }
  return groups;
}

// Of a tick, or of a bucket.
Status add_groups(Reader& reader, const State& state, std::int64_t tick_ms, Holders& holders) {
  for (const MarkSubject kind : {MarkSubject::category, MarkSubject::identity}) {
    const bool category = kind == MarkSubject::category;
    std::vector<GroupState> groups = TRY(state.rolled() ? load_groups(reader, state, kind)
                                         : category     ? categories_at(reader, tick_ms)
                                                        : identities_at(reader, tick_ms));
    (category ? holders.categories : holders.identities) = merged(groups);
  }
  return Done{};
}

}  // namespace

Result<Holders> largest_holders(const Context& context, std::int64_t at_ms, std::optional<Tier> in_bucket_of,
                                std::size_t most, const std::function<bool(const StoredProcess&)>& takes) {
  if (context.file.ticks == 0 || at_ms < context.file.first_tick_ms) return Holders{};
  const Tier tier = TRY(in_bucket_of ? Result(*in_bucket_of) : tier_of(context, {at_ms, at_ms}, Reads::all));
  if (tier != Tier::raw) {
    const std::int64_t recorded_ms = TRY(recorded_at(context, at_ms));
    const Range bucket = bucket_around(tier, recorded_ms);
    Result<Holders> holders = largest_in(context.reader, tier, bucket, most, takes);
    if (!holders) return holders;
    if (Status added = add_groups(context.reader, {{}, tier, bucket}, 0, *holders); !added) return added.error();
    return holders;
  }
  const std::optional<StoredTick> tick = TRY(context.reader.tick_at(at_ms));
  if (!tick) return Holders{};
  std::vector<Holder> largest = TRY(context.reader.largest_at(tick->id, most, takes));
  Holders holders{std::move(largest), false};
  TRY(add_groups(context.reader, {{}, Tier::raw, std::nullopt}, tick->begin.wall_ms, holders));
  return holders;
}

}  // namespace memoir::query
