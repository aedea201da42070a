#include "store/write/tick_store.h"

#include <algorithm>

#include "base/each_of.h"
#include "model/rules.h"
#include "store/rows/columns.h"
#include "store/rows/tick_rows.h"

namespace memoir {
namespace {

// Marks rise all over their table: the seldomer they are stored, the fewer pages are written.
constexpr std::int64_t kFlushMs = 15 * 60 * 1000;

// Those of processes that ended wait for it too, but for no more than so many: some hundred bytes each.
constexpr std::size_t kEndedAtMost = 512;

// Ends are summed up over so long.
constexpr std::int64_t kEndBlockMs = 5 * 60 * 1000;

TickContext context_of(const Tick& tick, const WriterState& state) {
  const bool first = !state.last_tick.has_value();
  const std::int64_t at = tick.begin.wall_ms;
  return {state.tick_id + 1,
          tick.keyframe || first || state.keyframe_wanted,
          first,
          {at, first ? at : state.last_tick->wall_ms}};
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

// A new day forgets the marks of the one before.
void begin_day(WriterState& state) {
  state.machine_marks.day = {};
  for (LiveCategory& category : state.categories) category.marks.day = {};
  for (MarkedCgroup& cgroup : state.cgroup_marks) cgroup.marks.day = {};
  for (LiveProcess& process : state.processes) {
    process.marks.day = {};
    process.marks.one_day = false;
  }
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
  const TickContext context = context_of(tick, state);
  const bool new_day = context.first || day_of(tick.begin.wall_ms) != day_of(state.last_tick->wall_ms);
  if (new_day && !context.first) {
    extremes_.mark(tick.extremes, day_of(state.last_tick->wall_ms), context, state);
    flush_marks(state);
    begin_day(state);
  }
  state.tick_id = context.tick_id;
  if (context.keyframe) state.keyframe_id = context.tick_id;
  state.keyframe_wanted = false;
  insert_tick(insert_tick_, context.tick_id, run_id, state.keyframe_id, tick);
  extremes_.store(tick.extremes, samples_, context, state);
  extremes_.mark(tick.extremes, day_of(tick.begin.wall_ms), context, state);
  store_machine(tick.machine, context, state);
  store_categories(tick.categories, context, state);
  store_cgroups(tick, context, state);
  store_processes(tick, context, state);
  extremes_.store_strangers(boot_id, samples_, processes_, marks_, context, state);
  store_ends(tick, context, state);
  ledgers_.store(tick.ledgers, context, state);
  outside_.store(tick, boot_id, context, state);
  state.last_tick = tick.begin;
  // The first tick of a run and of a day sets every mark; those after it only what rises, which is what lets a reader
  // catch up from the rows after the watermark.
  if (new_day || tick.begin.boot_ms - state.flushed_boot_ms >= kFlushMs) {
    flush_marks(state);
  } else if (state.ended.size() > kEndedAtMost) {
    flush_ended(state);
  }
}

void TickStore::flush_marks(WriterState& state) {
  if (!state.last_tick) return;
  const std::int64_t day = day_of(state.last_tick->wall_ms);
  marks_.flush(SubjectKind::machine, 0, day, state.machine_marks);
  for (LiveCategory& category : state.categories) marks_.flush(SubjectKind::category, category.id, day, category.marks);
  for (MarkedCgroup& cgroup : state.cgroup_marks) marks_.flush(SubjectKind::cgroup, cgroup.id, day, cgroup.marks);
  std::erase_if(state.cgroup_marks, [](const MarkedCgroup& cgroup) { return !cgroup.live; });
  flush_ended(state);
  for (LiveProcess& process : state.processes) marks_.flush(SubjectKind::process, process.id, day, process.marks);
  marks_.set_watermark(state.tick_id);
  state.flushed_boot_ms = state.last_tick->boot_ms;
}

void TickStore::flush_ended(WriterState& state) {
  const std::int64_t day = day_of(state.last_tick->wall_ms);
  for (EndedMarks& process : state.ended) marks_.flush(SubjectKind::process, process.id, day, process.marks);
  state.ended.clear();
  state.ended.shrink_to_fit();  // it may have been a burst
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
      update(adopted.back(), sample, context, is_new);
      continue;
    }
    if (kept != old) *kept = *old;
    ++old;
    if (known != nullptr) {
      processes_.update(kept->id, *known, context.time.at_ms);
      kept->start_ms = known->start_ms;
    }
    update(*kept++, sample, context, false);
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
      processes_.end(processes_.insert(boot_id_, *info, sight_of(context)), sight_of(context),
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
  const auto row = processes_.find(boot_id_, key);
  is_new = !row;
  live.marks.one_day = is_new;
  live.id = row ? row->id : processes_.insert(boot_id_, facts, sight_of(context));
  if (row) {
    processes_.revive(*row);
    if (info != nullptr) processes_.update(live.id, *info, context.time.at_ms);
  }
  return live;
}

void TickStore::update(LiveProcess& live, const ProcessSample& sample, const TickContext& context, bool is_new) {
  ProcessSample now = sample;
  if (live.stored) now.source = stored_source(now, live.last);
  const bool all = context.keyframe || !live.stored;
  if (all || hot_differs(now, live.last)) samples_.insert_hot(context.tick_id, live.id, now);
  if (all || cold_differs(now, live.last)) samples_.insert_cold(context.tick_id, live.id, now);
  live.last = now;
  live.stored = true;

  const MarkTime hwm_time = is_new ? since_start(context.time, live.start_ms, !context.first) : context.time;
  live.marks.see(SubjectKind::process, mark_values(now.memory, now.source), context.time, hwm_time);
}

void TickStore::end(const LiveProcess& live, const Tick& tick, const TickContext& context, WriterState& state) {
  processes_.end(live.id, sight_of(context), end_kind(tick, live.last.key));
  if (live.stored) state.ended.push_back({live.id, live.marks});
}

void TickStore::store_machine(const MachineSample& sample, const TickContext& context, WriterState& state) {
  const MachineMemory& now = sample.memory;
  if (context.keyframe || differ<MachineField>(now, state.machine, kHotMachineFields))
    samples_.insert_hot(context.tick_id, now);
  if (context.keyframe || differ<MachineField>(now, state.machine, kColdMachineFields))
    samples_.insert_cold(context.tick_id, now);
  state.machine = now;
  store_other(sample.other, context, state);
  state.machine_marks.see(SubjectKind::machine, mark_values(now), context.time, context.time);
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
    live->marks.see(SubjectKind::category, mark_values(sample), context.time, context.time);
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
  mark_cgroups(context, state);
  ExtremeStore::store_cgroups(tick.extremes, samples_, processes_, context, state);
  // The end of a detail is that of its samples.
  store_changes(
      tick.cgroup_details, &CgroupDetail::path, context.keyframe, state.cgroup_details, id_of,
      [&](std::int64_t id, const CgroupDetail& detail) { samples_.insert(context.tick_id, id, detail); },
      [](std::int64_t) {});
  for (const CgroupContainer& of : tick.containers)
    processes_.set_container(processes_.cgroup_id(of.path, context.time.at_ms), of.container);
}

void TickStore::mark_cgroups(const TickContext& context, WriterState& state) {
  for (MarkedCgroup& cgroup : state.cgroup_marks) cgroup.live = false;
  for (const StoredSample<CgroupSample>& stored : state.cgroups) {
    MarkedCgroup& cgroup = marked_cgroup(state, stored.id);
    cgroup.live = true;
    cgroup.marks.see(SubjectKind::cgroup, mark_values(stored.last), context.time, context.time);
  }
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
