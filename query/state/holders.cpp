#include "query/state/holders.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/rolled.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "store/names.h"

namespace memoir::query {

namespace {

constexpr std::size_t kAtOnce = 8;  // processes that are read together

// A tick, or the bucket of a tier that holds it.
struct HolderTime {
  Tier tier = {};
  Range range;
  std::int64_t recorded_ms = 0;  // of it; 0 of a tick
};

using Means = std::map<std::int64_t, BucketMean>;  // PSS by process; a bucket may come as two

Result<std::optional<HolderTime>> time_of_holders(const Context& context, Tier tier, std::int64_t at_ms) {
  HolderTime time{tier, {}};
  if (bucket_width(tier)) {
    time.range = bucket_around(tier, TRY(recorded_at(context, at_ms)));
  } else {
    const std::optional<StoredTick> tick = TRY(context.reader.tick_at(at_ms));
    if (!tick) return std::optional<HolderTime>();
    time.range = {tick->begin.wall_ms, tick->begin.wall_ms};
  }
  BucketMean total;
  TRY(context.reader.history({tier, SubjectKind::machine, {}, time.range, {metric_of(MachineField::mem_total)}},
                             [&](const SubjectInterval& of) { total.add(of.interval); }));
  time.recorded_ms = total.covered_ms();
  return std::optional(time);
}

Result<Means> means_at(Reader& reader, const HolderTime& time) {
  Means means;
  TRY(reader.history({time.tier, SubjectKind::process, {}, time.range, {Metric::pss}},
                     [&](const SubjectInterval& of) { means[of.subject_id].add(of.interval); }));
  return means;
}

// One that ended with the tick was not there any more.
bool was_there(const StoredProcess& process, const HolderTime& time) {
  return !process.gone_ms || *process.gone_ms > time.range.from_ms;
}

// The largest first.
Result<std::vector<Holder>> largest_of(Reader& reader, const HolderTime& time, const Means& means, std::size_t most,
                                       const std::function<bool(const StoredProcess&)>& takes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> held;
  for (const auto& [process_id, mean] : means) {
    if (const auto kib = mean.over(time.recorded_ms)) held.emplace_back(process_id, *kib);
  }
  std::ranges::stable_sort(held, std::greater(), [](const auto& of) { return of.second; });
  std::vector<Holder> largest;
  for (std::size_t begin = 0; begin < held.size() && largest.size() < most; begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, held.size());
    std::vector<std::int64_t> ids;
    for (std::size_t i = begin; i < end; ++i) ids.push_back(held[i].first);
    const std::vector<StoredProcess> processes = TRY(load_processes_by_id(reader, ids));
    for (std::size_t i = begin; i < end && largest.size() < most; ++i) {
      const auto process = std::ranges::find(processes, held[i].first, &StoredProcess::id);
      if (process == processes.end() || !was_there(*process, time) || !takes(*process)) continue;
      largest.push_back({*process, held[i].second});
    }
  }
  return largest;
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

// Groups that have a history of their own.
Result<std::vector<GroupState>> groups_at(Reader& reader, const HolderTime& time, SubjectKind kind) {
  struct Group {
    std::string name;
    std::int64_t processes = 0;
    BucketMean pss;
  };
  std::map<std::int64_t, Group> groups;
  TRY(visit_groups(reader, {time.tier, kind, {}, time.range, {Metric::pss}},
                   [&groups](const std::string& name, const SubjectInterval& of) {
                     Group& group = groups[of.subject_id];
                     group.name = name;
                     group.processes = std::max(group.processes, of.processes);
                     group.pss.add(of.interval);
                   }));
  return each_of(taken_from(groups), [&time](const Group& of) {
    return group_of(of.name, of.processes, of.pss.over(time.recorded_ms).value_or(0));
  });
}

Result<std::vector<GroupState>> sums_of_identities(Reader& reader, const HolderTime& time, const Means& means) {
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, SubjectKind::identity));
  const std::vector<StoredProcess> processes = TRY(load_processes_by_id(reader, keys_of(means)));
  std::vector<GroupState> groups;
  for (const StoredProcess& process : processes) {
    const auto name = names.find(process.identity_id);
    if (name == names.end() || !was_there(process, time)) continue;
    groups.push_back(group_of(name->second, 1, means.at(process.id).over(time.recorded_ms).value_or(0)));
  }
  return groups;
}

}  // namespace

Result<Holders> largest_holders(const Context& context, std::int64_t at_ms, std::optional<Tier> in_bucket_of,
                                std::size_t most, const std::function<bool(const StoredProcess&)>& takes) {
  if (context.file.ticks == 0 || at_ms < context.file.first_tick_ms) return Holders{};
  const Tier tier = TRY(in_bucket_of ? Result(*in_bucket_of) : tier_of(context, {at_ms, at_ms}, Reads::all));
  Reader& reader = context.reader;
  const std::optional<HolderTime> time = TRY(time_of_holders(context, tier, at_ms));
  if (!time) return Holders{};
  const Means means = TRY(means_at(reader, *time));
  Holders holders{TRY(largest_of(reader, *time, means, most, takes)), bucket_width(tier).has_value()};
  holders.categories = merged(TRY(groups_at(reader, *time, SubjectKind::category)));
  const bool kept = kept_kind(tier, info_of(SubjectKind::identity).name).has_value();
  holders.identities =
      merged(TRY(kept ? groups_at(reader, *time, SubjectKind::identity) : sums_of_identities(reader, *time, means)));
  return holders;
}

}  // namespace memoir::query
