#include "query/state/holders.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/rolled.h"
#include "query/history/history.h"
#include "query/history/tier.h"

namespace memoir::query {

namespace {

constexpr std::size_t kAtOnce = 8;  // processes that are read together

// Means over the recorded time of a bucket, by process; the largest first.
Result<std::vector<std::pair<std::int64_t, std::int64_t>>> held_in(Reader& reader, Tier tier, Range bucket) {
  BucketMean total;
  TRY(reader.history({tier, SubjectKind::machine, {}, bucket, {metric_of(MachineField::mem_total)}},
                     [&](const SubjectInterval& of) { total.add(of.interval); }));
  std::map<std::int64_t, BucketMean> means;  // a bucket may come as two
  TRY(reader.history({tier, SubjectKind::process, {}, bucket, {Metric::pss}},
                     [&](const SubjectInterval& of) { means[of.subject_id].add(of.interval); }));
  std::vector<std::pair<std::int64_t, std::int64_t>> held;
  for (const auto& [process_id, mean] : means) {
    if (const auto kib = mean.over(total.covered_ms())) held.emplace_back(process_id, *kib);
  }
  std::ranges::stable_sort(held, std::greater(), [](const auto& of) { return of.second; });
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
    of.kib[Metric::pss] = of.kib[Metric::pss].value_or(0) + group.kib[Metric::pss].value_or(0);
  }
  std::vector<GroupState> all = taken_from(by_name);
  std::ranges::stable_sort(all, std::greater(), [](const GroupState& group) { return group.kib[Metric::pss]; });
  return all;
}

GroupState group_of(std::string name, std::int64_t processes, std::int64_t kib) {
  GroupState group{std::move(name), processes, {}};
  group.kib[Metric::pss] = kib;
  return group;
}

Result<std::vector<GroupState>> categories_at(Reader& reader, std::int64_t tick_ms) {
  std::map<std::int64_t, GroupState> last;
  TRY(visit_groups(reader, {{}, SubjectKind::category, {}, {tick_ms, tick_ms}, {Metric::pss}},
                   [&last](const std::string& name, const SubjectInterval& of) {
                     last[of.subject_id] = group_of(name, of.processes, of.interval.mean.value_or(0));
                   }));
  return taken_from(last);
}

Result<std::vector<GroupState>> identities_at(Reader& reader, std::int64_t tick_ms) {
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(SubjectKind::identity));
  std::map<std::int64_t, std::optional<std::int64_t>> held;
  TRY(reader.history({.range = {tick_ms, tick_ms}, .metrics = {Metric::pss}},
                     [&held](const SubjectInterval& of) { held[of.subject_id] = of.interval.mean; }));
  const std::vector<StoredProcess> processes = TRY(reader.processes_by_id(keys_of(held)));
  std::vector<GroupState> groups;
  for (const StoredProcess& process : processes) {
    const auto name = names.find(process.identity_id);
    if (name == names.end() || (process.gone_ms && *process.gone_ms <= tick_ms)) continue;
    groups.push_back(group_of(name->second, 1, held.at(process.id).value_or(0)));
  }
  return groups;
}

}  // namespace

Result<Holders> largest_holders(const Context& context, std::int64_t at_ms, std::optional<Tier> in_bucket_of,
                                std::size_t most, const std::function<bool(const StoredProcess&)>& takes) {
  if (context.file.ticks == 0 || at_ms < context.file.first_tick_ms) return Holders{};
  const Tier tier = TRY(in_bucket_of ? Result(*in_bucket_of) : tier_of(context, {at_ms, at_ms}, Reads::all));
  Reader& reader = context.reader;
  if (holds_groups(tier)) {
    const Range bucket = bucket_around(tier, TRY(recorded_at(context, at_ms)));
    Holders holders = TRY(largest_in(reader, tier, bucket, most, takes));
    holders.categories = merged(TRY(load_groups(reader, tier, bucket, SubjectKind::category)));
    holders.identities = merged(TRY(load_groups(reader, tier, bucket, SubjectKind::identity)));
    return holders;
  }
  const std::optional<StoredTick> tick = TRY(reader.tick_at(at_ms));
  if (!tick) return Holders{};
  Holders holders{TRY(reader.largest_at(tick->id, most, takes)), false};
  const std::int64_t tick_ms = tick->begin.wall_ms;
  holders.categories = merged(TRY(categories_at(reader, tick_ms)));
  holders.identities = merged(TRY(identities_at(reader, tick_ms)));
  return holders;
}

}  // namespace memoir::query
