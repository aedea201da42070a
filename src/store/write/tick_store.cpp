#include "store/write/tick_store.h"

#include <algorithm>

#include "base/transformed.h"
#include "model/rules.h"
#include "store/rows/columns.h"
#include "store/rows/tick_rows.h"
#include "store/write/turnover.h"

namespace memoir {
namespace {

// How often raised marks are merged into the table mark. A merge writes pages all over that table, so rarer merges
// write fewer pages. But each query of marks reads all unmerged marks.
constexpr std::int64_t kMergeMs = 15 * 60 * 1000;
constexpr std::size_t kMaxRaised = 2000;
constexpr std::size_t kMarksAtOnce = 4096;

// Time over which exits are summed.
constexpr std::int64_t kExitBlockMs = 5 * 60 * 1000;

// Adds to a sum of exits. The first of equal peaks stays.
constexpr const char* kAddToExitSum =
    "INSERT INTO exit_sum (tick_id, comm, user, cgroup_id, count, first_ms, last_ms, lived_ms, peak_kib, peak_ms) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count, "
    "last_ms = excluded.last_ms, lived_ms = lived_ms + excluded.lived_ms, "
    "peak_ms = CASE WHEN excluded.peak_kib > peak_kib THEN excluded.peak_ms ELSE peak_ms END, "
    "peak_kib = MAX(peak_kib, excluded.peak_kib)";

TickContext begin_tick(const Tick& tick, WriterState& state) {
  const bool first = !state.last_tick.has_value();
  const std::int64_t at = tick.begin.wall_ms;
  return {state.tick_id + 1,
          tick.keyframe || first || state.keyframe_wanted,
          first,
          state.marks.begin_tick({at, first ? at : state.last_tick->wall_ms}),
          tick.begin.boot_ms,
          {at, first ? at : state.last_tick->wall_ms}};
}

MarkMaker::Groups groups_of(const ProcessRows::Row& row) {
  return {row.identity_id, row.cgroup_id};
}

ProcessRows::Sight sight_of(const TickContext& context) {
  return {context.tick_id, context.time.at_ms};
}

std::vector<const ProcessInfo*> sorted_infos(const std::vector<ProcessInfo>& born) {
  std::vector<const ProcessInfo*> infos = transformed(born, [](const ProcessInfo& info) { return &info; });
  std::ranges::sort(infos, {}, &ProcessInfo::key);
  return infos;
}

// Returns how an image ended: "exited", "execed" if its process continued as another image, or "unknown" if the
// collector did not observe the end.
std::string_view exit_kind(const Tick& tick, const ProcessKey& key) {
  const auto record = std::ranges::lower_bound(tick.exit_records, key, {}, &ExitRecord::process);
  if (record != tick.exit_records.end() && record->process.pid == key.pid &&
      record->process.start_ticks == key.start_ticks)
    return record->process == key ? "exited" : "execed";
  const ProcessExit* const exit = find_sorted(tick.exits, key, &ProcessExit::key);
  if (exit != nullptr) return exit->kind == ExitKind::execed ? "execed" : "exited";
  // If the image ended between two runs, the process may still run a later image.
  const auto later = std::ranges::lower_bound(tick.processes, key, {}, &ProcessSample::key);
  const bool runs =
      later != tick.processes.end() && later->key.pid == key.pid && later->key.start_ticks == key.start_ticks;
  return runs ? "execed" : "unknown";
}

// Returns a description of a process that needs a row although the collector never described it.
ProcessInfo stranger(const ProcessKey& key) {
  ProcessInfo info;
  info.key = key;
  info.comm = "?";
  info.category = kOtherCategory;
  return info;
}

}  // namespace

TickStore::TickStore(SQLite::Database& database)
    : insert_tick_(database, insert_tick_sql()),
      insert_recorder_memory_(database, insert_recorder_memory_sql()),
      processes_(database),
      samples_(database),
      summaries_(database),
      outside_(database),
      insert_exit_(database,
                   "INSERT OR IGNORE INTO process_exit (tick_id, process_id, exited_ms, lived_ms, exit_code, peak_kib, "
                   "anon_kib, file_kib, shmem_kib, swap_kib) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      add_to_exit_sum_(database, kAddToExitSum),
      marks_(database) {}

void TickStore::store(const Tick& tick, std::int64_t run_id, std::int64_t boot_id, WriterState& state) {
  boot_id_ = boot_id;
  const TickContext context = begin_tick(tick, state);
  state.tick_id = context.tick_id;
  if (context.keyframe) state.keyframe_id = context.tick_id;
  state.keyframe_wanted = false;
  insert_tick(insert_tick_, context.tick_id, run_id, state.keyframe_id, tick, activity_of(tick, context, state));
  if (tick.recorder_memory) insert_recorder_memory(insert_recorder_memory_, context.tick_id, *tick.recorder_memory);
  extremes_.store(tick.extremes, samples_, context, state);
  store_machine(tick.machine, context, state);
  store_categories(tick.categories, context, state);
  store_cgroups(tick, context, state);
  store_processes(tick, context, state);
  extremes_.store_unsampled(boot_id, samples_, processes_, context, state);
  store_exits(tick, context, state);
  summaries_.store(tick.summaries, context, state);
  outside_.store(tick, boot_id, context, state);
  state.last_tick = tick.begin;
  store_marks(tick, context, state);
}

// Call it before the state is updated.
TickActivity TickStore::activity_of(const Tick& tick, const TickContext& context, const WriterState& state) {
  TickActivity activity = count_turnover(state.processes, tick, context.tick_id == 1);
  if (context.first) activity.exited += processes_.count_other_boots(boot_id_);
  activity.oom_kills = state.oom_kills.in_tick;
  return activity;
}

void TickStore::store_marks(const Tick& tick, const TickContext& context, WriterState& state) {
  state.raised_marks += marks_.append(state.marks.end_tick());
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
  // The list is updated in place: a second list of 10,000 processes would take 4 MB.
  std::vector<LiveProcess>& live = state.processes;
  const std::size_t before = live.size();
  std::size_t old = 0;
  std::size_t kept = 0;
  for (const ProcessSample& sample : tick.processes) {
    for (; old < before && live[old].key() < sample.key; ++old) end(live[old], tick, context, state);
    if (state.marks.raised() > kMarksAtOnce) state.raised_marks += marks_.append(state.marks.take_raised());
    while (info != infos.end() && (*info)->key < sample.key) ++info;
    const Info known = info != infos.end() && (*info)->key == sample.key ? *info : nullptr;
    if (old == before || live[old].key() != sample.key) {
      bool is_new = false;
      live.push_back(adopt(sample.key, known, context, is_new));
      update(live.back(), sample, context, state, is_new, false);
      continue;
    }
    if (kept != old) live[kept] = live[old];
    ++old;
    LiveProcess& process = live[kept++];
    const MarkMaker::Groups groups = process.groups;
    if (known != nullptr) {
      process.groups = groups_of(processes_.update(process.id, *known, context.time.at_ms));
      process.start_ms = known->start_ms;
    }
    update(process, sample, context, state, false, process.groups != groups);
  }
  for (; old < before; ++old) end(live[old], tick, context, state);
  const auto position = [&](std::size_t index) { return live.begin() + static_cast<std::ptrdiff_t>(index); };
  live.erase(position(kept), position(before));
  std::ranges::inplace_merge(live, position(kept), {}, &LiveProcess::key);
}

// Stores processes that are described but have no sample in the tick, because all ticks with them were dropped before
// they could be stored. They get only a row of `process`.
void TickStore::store_missed(const std::vector<Info>& infos, const Tick& tick, const TickContext& context) {
  auto sample = tick.processes.begin();
  for (const Info info : infos) {
    sample = std::ranges::lower_bound(sample, tick.processes.end(), info->key, {}, &ProcessSample::key);
    if (sample != tick.processes.end() && sample->key == info->key) continue;
    if (const auto row = processes_.find(boot_id_, info->key)) {
      processes_.update(row->id, *info, context.time.at_ms);
    } else {
      processes_.end(processes_.insert(boot_id_, *info, sight_of(context)).id, sight_of(context),
                     exit_kind(tick, info->key));
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
  const bool all = context.keyframe || !live.stored;
  const bool hot = !live.stored || hot_differs(sample, live.last);
  const bool cold = !live.stored || cold_differs(sample, live.last);
  const bool was_read = live.stored && sample.read_boot_ms != live.last.read_boot_ms;
  MarkTime hwm_time = context.time;
  if (is_new) {
    const bool execed_unseen = context.first && sample.key.exec_count > 0;
    const std::int64_t start_ms = execed_unseen ? processes_.image_start_ms(live.id) : live.start_ms;
    hwm_time = since_start(context.time, start_ms, !context.first);
  }
  // In the first tick of a run, the time of the peak is unknown.
  if (is_new ? !context.first : live.stored)
    ExtremeStore::store_peak(live.id, sample.memory, is_new ? nullptr : &live.last.memory, hwm_time, samples_, context);
  if (was_read && !all && !hot && sample.source == Source::exact) {
    samples_.insert_reading(context.tick_id, live.id);
  } else if (all || hot || was_read) {
    samples_.insert_hot(context.tick_id, context.boot_ms, live.id, sample);
  }
  if (all || cold) samples_.insert_cold(context.tick_id, live.id, sample);
  if (hot || cold || regrouped || context.new_day) {
    state.marks.observe_process(live.id, live.groups, sample.memory, sample.source, hwm_time);
  }
  live.last = sample;
  live.stored = true;
}

void TickStore::end(const LiveProcess& live, const Tick& tick, const TickContext& context, WriterState& state) {
  processes_.end(live.id, sight_of(context), exit_kind(tick, live.last.key));
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
  // A detail needs no row for its end: it ends with the cgroup's samples.
  store_changes(
      tick.cgroup_details, &CgroupDetail::path, context.keyframe, state.cgroup_details, id_of,
      [&](std::int64_t id, const CgroupDetail& detail) { samples_.insert(context.tick_id, id, detail); },
      [](std::int64_t) {});
  for (const CgroupContainer& of : tick.containers)
    processes_.set_container(processes_.cgroup_id(of.path, context.time.at_ms), of.container);
}

// Call it after the processes are stored, because exits refer to their rows.
void TickStore::store_exits(const Tick& tick, const TickContext& context, WriterState& state) {
  for (const ExitRecord& of : tick.exit_records) {
    const auto row = processes_.find(boot_id_, of.process);
    if (!row) continue;
    const auto held = [&](std::int64_t MemoryAtExit::*kib) {
      return of.held ? std::optional((*of.held).*kib) : std::nullopt;
    };
    insert_exit_.run(context.tick_id, row->id, of.exited_ms, of.lived_ms, of.exit_code, of.peak_kib,
                     held(&MemoryAtExit::anon_kib), held(&MemoryAtExit::file_kib), held(&MemoryAtExit::shmem_kib),
                     held(&MemoryAtExit::swap_kib));
  }
  const std::int64_t block = context.time.at_ms / kExitBlockMs;
  if (block != state.exit_block.block || context.first) state.exit_block = {block, context.tick_id};
  for (const ExitSum& sum : tick.exit_sums)
    add_to_exit_sum_.run(state.exit_block.tick_id, sum.comm, sum.user,
                         processes_.cgroup_id(sum.cgroup, context.time.at_ms), sum.count, sum.first_ms, sum.last_ms,
                         sum.lived_ms, sum.peak_kib, sum.peak_ms);
}

}  // namespace memoir
