#include "store/write/tick_store.h"

#include <algorithm>

#include "base/each_of.h"
#include "model/rules.h"
#include "store/rows/columns.h"
#include "store/rows/tick_rows.h"

namespace memoir {
namespace {

// The marks that a tick raises are all over the table mark: the rarer they are merged, the fewer pages are written.
// Each answer about marks reads all that are not merged.
constexpr std::int64_t kMergeMs = 15 * 60 * 1000;
constexpr std::size_t kMaxRaised = 2000;

// Ends are summed up over so long.
constexpr std::int64_t kEndBlockMs = 5 * 60 * 1000;

TickContext begin_tick(const Tick& tick, WriterState& state) {
  const bool first = !state.last_tick.has_value();
  const std::int64_t at = tick.begin.wall_ms;
  return {state.tick_id + 1,
          tick.keyframe || first || state.keyframe_wanted,
          first,
          state.marks.begin_tick({at, first ? at : state.last_tick->wall_ms}),
          {at, first ? at : state.last_tick->wall_ms}};
}

MarkMaker::Groups groups_of(const ProcessRows::Row& row) {
  return {row.identity_id, row.cgroup_id};
}

ProcessRows::Sight sight_of(const TickContext& context) {
  return {context.tick_id, context.time.at_ms};
}

std::vector<const ProcessInfo*> sorted_infos(const std::vector<ProcessInfo>& born) {
  std::vector<const ProcessInfo*> infos = each_of(born, [](const ProcessInfo& info) { return &info; });
  std::ranges::sort(infos, {}, &ProcessInfo::key);
  return infos;
}

// The end that the collector saw; unknown where it did not see any.
std::string_view end_kind(const Tick& tick, const ProcessKey& key) {
  if (std::ranges::binary_search(tick.ends, key, {}, &ProcessEnd::process)) return "exited";
  const ProcessExit* const told = find_sorted(tick.exits, key, &ProcessExit::key);
  if (told == nullptr) return "unknown";
  return told->kind == ExitKind::execed ? "execed" : "exited";
}

// A process that the collector never introduced: its row must be there all the same.
ProcessInfo stranger(const ProcessKey& key) {
  ProcessInfo info;
  info.key = key;
  info.comm = "?";
  info.category = kOtherCategory;
  return info;
}

// That it was not read again, or was, is not worth a row.
Source stored_source(const ProcessSample& now, const ProcessSample& last) {
  return is_known(now.source) && is_known(last.source) && !hot_memory_differs(now, last) ? last.source : now.source;
}

}  // namespace

TickStore::TickStore(SQLite::Database& database)
    : insert_tick_(database, insert_tick_sql()),
      processes_(database),
      samples_(database),
      ledgers_(database),
      outside_(database),
      ends_(database),
      marks_(database) {}

void TickStore::store(const Tick& tick, std::int64_t run_id, std::int64_t boot_id, WriterState& state) {
  boot_id_ = boot_id;
  const TickContext context = begin_tick(tick, state);
  state.tick_id = context.tick_id;
  if (context.keyframe) state.keyframe_id = context.tick_id;
  state.keyframe_wanted = false;
  insert_tick(insert_tick_, context.tick_id, run_id, state.keyframe_id, tick);
  extremes_.store(tick.extremes, samples_, context, state);
  store_machine(tick.machine, context, state);
  store_categories(tick.categories, context, state);
  store_cgroups(tick, context, state);
  store_processes(tick, context, state);
  extremes_.store_strangers(boot_id, samples_, processes_, context, state);
  store_ends(tick, context, state);
  ledgers_.store(tick.ledgers, context, state);
  outside_.store(tick, boot_id, context, state);
  state.last_tick = tick.begin;
  store_marks(tick, context, state);
}

void TickStore::store_marks(const Tick& tick, const TickContext& context, WriterState& state) {
  const std::vector<Mark> raised = state.marks.end_tick();
  marks_.append(raised);
  state.raised_marks += raised.size();
  // The first tick of a day raises all marks.
  const bool is_due = tick.begin.boot_ms - state.merged_boot_ms >= kMergeMs;
  if (context.new_day || is_due || state.raised_marks > kMaxRaised) merge_marks(state);
}

void TickStore::merge_marks(WriterState& state) {
  marks_.merge();
  state.raised_marks = 0;
  if (state.last_tick) state.merged_boot_ms = state.last_tick->boot_ms;
}

void TickStore::store_processes(const Tick& tick, const TickContext& context, WriterState& state) {
  if (context.first) processes_.end_other_boots(boot_id_, sight_of(context));
  const auto infos = sorted_infos(tick.born);
  store_missed(infos, tick, context);
  auto info = infos.begin();
  // In place: on a machine of 10,000 processes another list of them is 13 MB.
  std::vector<LiveProcess>& live = state.processes;
  std::vector<LiveProcess> adopted;
  auto old = live.begin();
  auto kept = live.begin();
  for (const ProcessSample& sample : tick.processes) {
    for (; old != live.end() && old->last.key < sample.key; ++old) end(*old, tick, context, state);
    while (info != infos.end() && (*info)->key < sample.key) ++info;
    const Info known = info != infos.end() && (*info)->key == sample.key ? *info : nullptr;
    if (old == live.end() || old->last.key != sample.key) {
      bool is_new = false;
      adopted.push_back(adopt(sample.key, known, context, is_new));
      update(adopted.back(), sample, context, state, is_new, false);
      continue;
    }
    if (kept != old) *kept = *old;
    ++old;
    const MarkMaker::Groups groups = kept->groups;
    if (known != nullptr) {
      kept->groups = groups_of(processes_.update(kept->id, *known, context.time.at_ms));
      kept->start_ms = known->start_ms;
    }
    update(*kept, sample, context, state, false, kept->groups != groups);
    ++kept;
  }
  for (; old != live.end(); ++old) end(*old, tick, context, state);
  live.erase(kept, live.end());
  const auto middle = live.insert(live.end(), adopted.begin(), adopted.end());
  std::ranges::inplace_merge(live, middle, {}, &LiveProcess::key);
}

// Described, but not there: all the ticks that saw it were dropped before they could be stored. It has no sample, only
// the row that says it lived.
void TickStore::store_missed(const std::vector<Info>& infos, const Tick& tick, const TickContext& context) {
  auto sample = tick.processes.begin();
  for (const Info info : infos) {
    sample = std::ranges::lower_bound(sample, tick.processes.end(), info->key, {}, &ProcessSample::key);
    if (sample != tick.processes.end() && sample->key == info->key) continue;
    if (const auto row = processes_.find(boot_id_, info->key)) {
      processes_.update(row->id, *info, context.time.at_ms);
    } else {
      processes_.end(processes_.insert(boot_id_, *info, sight_of(context)).id, sight_of(context),
                     end_kind(tick, info->key));
    }
  }
}

LiveProcess TickStore::adopt(const ProcessKey& key, Info info, const TickContext& context, bool& is_new) {
  LiveProcess live;
  live.last.key = key;
  const ProcessInfo unknown = stranger(key);
  const ProcessInfo& facts = info != nullptr ? *info : unknown;
  live.start_ms = facts.start_ms;
  auto row = processes_.find(boot_id_, key);
  is_new = !row;
  if (row) {
    processes_.revive(*row);
    if (info != nullptr) row = processes_.update(row->id, *info, context.time.at_ms);
  } else {
    row = processes_.insert(boot_id_, facts, sight_of(context));
  }
  live.id = row->id;
  live.groups = groups_of(*row);
  return live;
}

void TickStore::update(LiveProcess& live, const ProcessSample& sample, const TickContext& context, WriterState& state,
                       bool is_new, bool regrouped) {
  ProcessSample now = sample;
  if (live.stored) now.source = stored_source(now, live.last);
  const bool all = context.keyframe || !live.stored;
  const bool hot = !live.stored || hot_differs(now, live.last);
  const bool cold = !live.stored || cold_differs(now, live.last);
  if (all || hot) samples_.insert_hot(context.tick_id, live.id, now);
  if (all || cold) samples_.insert_cold(context.tick_id, live.id, now);
  if (hot || cold || regrouped || context.new_day) {
    const MarkTime hwm_time = is_new ? since_start(context.time, live.start_ms, !context.first) : context.time;
    state.marks.observe_process(live.id, live.groups, now.memory, now.source, hwm_time);
  }
  live.last = now;
  live.stored = true;
}

void TickStore::end(const LiveProcess& live, const Tick& tick, const TickContext& context, WriterState& state) {
  processes_.end(live.id, sight_of(context), end_kind(tick, live.last.key));
  state.marks.remove_process(live.id);
}

void TickStore::store_machine(const MachineSample& sample, const TickContext& context, WriterState& state) {
  const MachineMemory& now = sample.memory;
  if (context.keyframe || differ<MachineField>(now, state.machine, kHotMachineFields))
    samples_.insert_hot(context.tick_id, now);
  if (context.keyframe || differ<MachineField>(now, state.machine, kColdMachineFields))
    samples_.insert_cold(context.tick_id, now);
  state.machine = now;
  store_other(sample.other, context, state);
  state.marks.observe(now);
}

void TickStore::store_other(const std::vector<OtherMeminfo>& other, const TickContext& context, WriterState& state) {
  for (const OtherMeminfo& item : other) {
    const bool known =
        std::ranges::find(state.meminfo_keys, item.key, &LiveMeminfoKey::name) != state.meminfo_keys.end();
    if (!known) state.meminfo_keys.push_back({item.key, samples_.insert_meminfo_key(item.key), std::nullopt});
  }
  for (LiveMeminfoKey& key : state.meminfo_keys) {
    const auto item = std::ranges::find(other, key.name, &OtherMeminfo::key);
    const auto value = item == other.end() ? std::nullopt : std::optional(item->value);
    if (value != key.value || (context.keyframe && value)) samples_.insert_other(context.tick_id, key.id, value);
    key.value = value;
  }
}

void TickStore::store_categories(const std::vector<CategorySample>& samples, const TickContext& context,
                                 WriterState& state) {
  for (const CategorySample& sample : samples) {
    auto live = std::ranges::lower_bound(state.categories, sample.category, {}, &LiveCategory::name);
    if (live == state.categories.end() || live->last.category != sample.category) {
      live = state.categories.insert(live, LiveCategory{});
      live->id = processes_.category_id(sample.category);
      live->last.category = sample.category;
    }
    if (context.keyframe || !live->stored || sample != live->last) samples_.insert(context.tick_id, live->id, sample);
    live->last = sample;
    live->stored = true;
    state.marks.observe_category(live->id, sample);
  }
  for (LiveCategory& live : state.categories) {
    const bool here = std::ranges::find(samples, live.last.category, &CategorySample::category) != samples.end();
    if (here || !live.stored || live.last.processes == 0) continue;
    CategorySample ended;
    ended.category = live.last.category;
    samples_.insert(context.tick_id, live.id, ended);
    live.last = ended;
  }
}

void TickStore::store_cgroups(const Tick& tick, const TickContext& context, WriterState& state) {
  const auto id_of = [&](const auto& of) { return processes_.cgroup_id(of.path, context.time.at_ms); };
  store_changes(
      tick.cgroups, &CgroupSample::path, context.keyframe, state.cgroups, id_of,
      [&](std::int64_t id, const CgroupSample& sample) {
        samples_.insert(context.tick_id, id, sample);
        if (context.keyframe) samples_.see_cgroup(id, context.time.at_ms);
      },
      [&](std::int64_t id) { samples_.insert_gone_cgroup(context.tick_id, id); });
  for (const StoredSample<CgroupSample>& stored : state.cgroups) state.marks.observe_cgroup(stored.id, stored.last);
  ExtremeStore::store_cgroups(tick.extremes, samples_, processes_, context, state);
  // The end of a detail is that of its samples.
  store_changes(
      tick.cgroup_details, &CgroupDetail::path, context.keyframe, state.cgroup_details, id_of,
      [&](std::int64_t id, const CgroupDetail& detail) { samples_.insert(context.tick_id, id, detail); },
      [](std::int64_t) {});
  for (const CgroupContainer& of : tick.containers)
    processes_.set_container(processes_.cgroup_id(of.path, context.time.at_ms), of.container);
}

// After the processes, whose rows they are of.
void TickStore::store_ends(const Tick& tick, const TickContext& context, WriterState& state) {
  for (const ProcessEnd& of : tick.ends) {
    if (const auto row = processes_.find(boot_id_, of.process)) ends_.insert(context.tick_id, row->id, of);
  }
  const std::int64_t block = context.time.at_ms / kEndBlockMs;
  if (block != state.ends.block || context.first) state.ends = {block, context.tick_id};
  for (const EndSum& sum : tick.end_sums)
    ends_.add(state.ends.tick_id, processes_.cgroup_id(sum.cgroup, context.time.at_ms), sum);
}

}  // namespace memoir
