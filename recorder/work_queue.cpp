#include "recorder/work_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "base/heap_bytes.h"

namespace memoir {
namespace {

// Returns the bytes of a tick, without the samples of its processes.
std::size_t bytes_of(const Tick& tick) {
  std::size_t bytes =
      sizeof(tick) + heap_bytes(tick.exits) + heap_bytes(tick.exit_records) + heap_bytes(tick.summaries) +
      heap_bytes(tick.born) + heap_bytes(tick.exit_sums, &ExitSum::comm, &ExitSum::user, &ExitSum::cgroup) +
      heap_bytes(tick.oom_victims, &OomVictim::cgroup) + heap_bytes(tick.categories, &CategorySample::category) +
      heap_bytes(tick.cgroups, &CgroupSample::path) + heap_bytes(tick.machine.other, &OtherMeminfo::key) +
      heap_bytes(tick.extremes.processes) + heap_bytes(tick.extremes.categories) +
      heap_bytes(tick.extremes.cgroups, &CgroupExtremes::path);
  for (const ProcessInfo& of : tick.born) bytes += heap_bytes(of);
  for (const ProcessMappings& of : tick.summaries) {
    bytes += heap_bytes(of.summary.rows);
    for (const MappingRow& row : of.summary.rows) bytes += heap_bytes(row.name.label);
  }
  for (const OomVictim& victim : tick.oom_victims) {
    if (victim.detail) bytes += heap_bytes(victim.detail->others) + heap_bytes(victim.detail->limit_cgroup);
  }
  if (tick.cgroup_details) bytes += heap_bytes(*tick.cgroup_details, &CgroupDetail::path);
  if (tick.segments) bytes += heap_bytes(*tick.segments);
  if (tick.tmpfs) {
    bytes += heap_bytes(*tick.tmpfs, &TmpfsSample::mount_point);
    for (const TmpfsSample& mount : *tick.tmpfs) bytes += heap_bytes(mount.largest, &TmpfsEntry::path);
  }
  return bytes;
}

bool is_held_now(const ProcessSample& before, const ProcessSample& now) {
  if (now.source != Source::held) return false;
  ProcessSample held = before;
  held.source = Source::held;
  return held == now;
}

bool next_is(const std::vector<ProcessKey>& keys, std::size_t& next, const ProcessKey& key) {
  if (next == keys.size() || keys[next] != key) return false;
  ++next;
  return true;
}

SampleDelta difference(const Samples& before, const Samples& now) {
  SampleDelta delta;
  auto old = before.begin();
  for (const ProcessSample& sample : now) {
    for (; old != before.end() && old->key < sample.key; ++old) delta.gone.push_back(old->key);
    const bool was = old != before.end() && old->key == sample.key;
    if (was && *old == sample) {
      // Nothing to keep.
    } else if (was && is_held_now(*old, sample)) {
      delta.held.push_back(sample.key);
    } else {
      delta.changed.push_back(sample);
    }
    if (was) ++old;
  }
  for (; old != before.end(); ++old) delta.gone.push_back(old->key);
  delta.changed.shrink_to_fit();
  delta.held.shrink_to_fit();
  delta.gone.shrink_to_fit();
  return delta;
}

// Rebuilds the samples from which difference() made `delta`.
Samples applied(const Samples& before, const SampleDelta& delta) {
  Samples now;
  now.reserve(before.size() + delta.changed.size() - delta.gone.size());
  auto changed = delta.changed.begin();
  std::size_t held = 0;
  std::size_t gone = 0;
  for (const ProcessSample& old : before) {
    for (; changed != delta.changed.end() && changed->key < old.key; ++changed) now.push_back(*changed);
    if (changed != delta.changed.end() && changed->key == old.key) {
      now.push_back(*changed++);
    } else if (!next_is(delta.gone, gone, old.key)) {
      now.push_back(old);
      if (next_is(delta.held, held, old.key)) now.back().source = Source::held;
    }
  }
  now.insert(now.end(), changed, delta.changed.end());
  return now;
}

}  // namespace

void WorkQueue::push(WorkItem item) {
  Item waiting{.work = std::move(item)};
  if (auto* const tick = std::get_if<Tick>(&waiting.work)) pack_after_newest(*tick, waiting);
  add(items_.end(), std::move(waiting));
}

void WorkQueue::put_back(WorkItem item) {
  // The oldest tick must not be a difference from the returned tick, which may be dropped.
  make_oldest_whole();
  Item waiting{.work = std::move(item)};
  if (auto* const tick = std::get_if<Tick>(&waiting.work)) pack_whole(*tick, waiting);
  add(items_.begin(), std::move(waiting));
}

std::optional<WorkItem> WorkQueue::take() {
  if (items_.empty()) return std::nullopt;
  if (is_tick(items_.front())) return take_tick(items_.begin());
  events_ -= is_event(items_.front()) ? 1U : 0U;
  std::optional<WorkItem> item = std::move(items_.front().work);
  items_.pop_front();
  return item;
}

bool WorkQueue::has_run_end() const {
  return std::ranges::any_of(items_, [](const Item& item) { return std::holds_alternative<RunEnd>(item.work); });
}

void WorkQueue::pack_whole(Tick& tick, Item& item) {
  item.samples = {.changed = std::exchange(tick.processes, {})};
  item.whole = true;
}

void WorkQueue::make_oldest_whole() {
  const auto oldest = std::find_if(items_.begin(), items_.end(), is_tick);
  if (oldest == items_.end() || oldest->whole) return;
  oldest->samples = {.changed = applied(before_, oldest->samples)};
  oldest->whole = true;
  measure(*oldest);
  before_ = Samples();
  if (ticks_ == 1) newest_ = Samples();
}

void WorkQueue::pack_after_newest(Tick& tick, Item& item) {
  const auto newest = std::find_if(items_.rbegin(), items_.rend(), is_tick);
  if (newest == items_.rend()) return pack_whole(tick, item);
  Samples now = std::exchange(tick.processes, {});
  item.samples = difference(newest->whole ? newest->samples.changed : newest_, now);
  newest_ = std::move(now);
}

void WorkQueue::measure(Item& waiting) {
  bytes_ -= waiting.bytes;
  waiting.bytes = bytes_of(std::get<Tick>(waiting.work)) + waiting.samples.bytes();
  bytes_ += waiting.bytes;
}

void WorkQueue::add(const Items::iterator& place, Item item) {
  if (is_tick(item)) {
    ++ticks_;
    measure(item);
  }
  events_ += is_event(item) ? 1U : 0U;
  items_.insert(place, std::move(item));
  keep_limits();
}

Tick WorkQueue::take_tick(const Items::iterator& place) {
  Samples now = place->whole ? std::move(place->samples.changed) : applied(before_, place->samples);
  Tick tick = std::get<Tick>(std::move(place->work));
  bytes_ -= place->bytes;
  --ticks_;
  const auto after = items_.erase(place);
  const auto next = std::find_if(after, items_.end(), is_tick);
  before_ = next == items_.end() || next->whole ? Samples() : now;
  if (next == items_.end()) newest_ = Samples();
  tick.processes = std::move(now);
  return tick;
}

void WorkQueue::keep_limits() {
  while (ticks_ > 1 && (ticks_ > limits_.ticks || bytes_ > limits_.bytes)) drop_oldest_tick();
  if (events_ <= limits_.events) return;
  items_.erase(std::find_if(items_.begin(), items_.end(), is_event));
  --events_;
  ++lost_.events;
}

void WorkQueue::drop_oldest_tick() {
  Tick dropped = take_tick(std::find_if(items_.begin(), items_.end(), is_tick));
  if (lost_.ticks++ == 0) lost_.first_ms = dropped.begin.wall_ms;
  lost_.last_ms = dropped.begin.wall_ms;
  // A next tick exists, because a tick is dropped only if there are two.
  Item& next = *std::find_if(items_.begin(), items_.end(), is_tick);
  auto& tick = std::get<Tick>(next.work);
  merge_dropped(std::move(dropped), tick);
  lost_.processes += forget_exited(tick, kMaxExits);
  measure(next);
}

namespace {

// Keeps the later summary of a process, unless its reading was deferred. Skips processes that have exited.
void merge_summaries(std::vector<ProcessMappings>&& dropped, Tick& next) {
  for (ProcessMappings& summary : dropped) {
    const auto ended = std::ranges::find(next.exits, summary.process, &ProcessExit::key);
    if (ended != next.exits.end()) continue;
    const auto later = std::ranges::find(next.summaries, summary.process, &ProcessMappings::process);
    if (later == next.summaries.end()) {
      next.summaries.push_back(std::move(summary));
    } else if (later->state == MappingState::deferred) {
      *later = std::move(summary);
    }
  }
  std::ranges::sort(next.summaries, {}, &ProcessMappings::process);
}

// Adds up the sums with the same names. Their number is limited, however long the store fails.
void merge_sums(const std::vector<ExitSum>& dropped, std::vector<ExitSum>& next) {
  constexpr std::size_t most = 1'000;
  const auto names = [](const ExitSum& sum) { return std::tie(sum.comm, sum.user, sum.cgroup); };
  for (const ExitSum& sum : dropped) {
    auto of = std::ranges::find(next, names(sum), names);
    if (of == next.end() && next.size() >= most) of = std::ranges::find(next, std::string(), &ExitSum::comm);
    if (of == next.end()) {
      of = next.emplace(of);
      if (next.size() <= most) std::tie(of->comm, of->user, of->cgroup) = names(sum);
    }
    of->add(sum);
  }
}

void keep_highest(const Extremes& dropped, Extremes& next) {
  if (!dropped.highest || (next.highest && next.highest->kib >= dropped.highest->kib)) return;
  next.highest = dropped.highest;
}

// Keeps the highest peaks, because the kernel will not report them again.
void merge_cgroup_peaks(std::vector<CgroupExtremes>& dropped, std::vector<CgroupExtremes>& next) {
  for (CgroupExtremes& of : dropped) {
    const auto later = std::ranges::lower_bound(next, of.path, {}, &CgroupExtremes::path);
    if (later == next.end() || later->path != of.path) {
      next.insert(later, std::move(of));
    } else {
      keep_highest(of.usage, later->usage);
      keep_highest(of.swap, later->swap);
    }
  }
}

// Merges exits, OOM victims and event counts. Keeps only the peaks of exited processes from the scans' extremes.
void merge_ends(Tick& dropped, Tick& next) {
  for (const ProcessExtremes& of : dropped.extremes.processes) {
    if (!of.hwm.any() || !std::ranges::binary_search(dropped.exit_records, of.process, {}, &ExitRecord::process))
      continue;
    auto later = std::ranges::find(next.extremes.processes, of.process, &ProcessExtremes::process);
    if (later == next.extremes.processes.end()) {
      later = next.extremes.processes.emplace(later);
      later->process = of.process;
    }
    later->hwm = of.hwm;
  }
  std::ranges::sort(next.extremes.processes, {}, &ProcessExtremes::process);
  std::ranges::move(dropped.exit_records, std::back_inserter(next.exit_records));
  std::ranges::sort(next.exit_records, {}, &ExitRecord::process);
  merge_sums(dropped.exit_sums, next.exit_sums);
  std::ranges::move(next.oom_victims, std::back_inserter(dropped.oom_victims));
  next.oom_victims = std::move(dropped.oom_victims);
  constexpr std::size_t max_victims = 1'000;
  if (next.oom_victims.size() > max_victims) next.oom_victims.resize(max_victims);
  if (!dropped.events) return;
  TickEvents& events = next.events ? *next.events : next.events.emplace();
  events.exits += dropped.events->exits;
  events.lost += dropped.events->lost;
}

}  // namespace

void merge_dropped(Tick&& dropped, Tick& next) {
  next.keyframe |= dropped.keyframe;
  next.skipped += dropped.skipped;
  next.counts.born += dropped.counts.born;
  next.counts.exited += dropped.counts.exited;
  next.counts.execed += dropped.counts.execed;
  // The newer description of a process wins. Older starts come first, so that a process has its row before later rows
  // refer to it.
  std::erase_if(dropped.born, [&next](const ProcessInfo& info) {
    return std::ranges::find(next.born, info.key, &ProcessInfo::key) != next.born.end();
  });
  dropped.born.insert(dropped.born.end(), std::make_move_iterator(next.born.begin()),
                      std::make_move_iterator(next.born.end()));
  next.born = std::move(dropped.born);
  next.exits.insert(next.exits.end(), dropped.exits.begin(), dropped.exits.end());
  std::ranges::sort(next.exits, {}, &ProcessExit::key);
  merge_ends(dropped, next);
  merge_cgroup_peaks(dropped.extremes.cgroups, next.extremes.cgroups);
  merge_summaries(std::move(dropped.summaries), next);
  if (!next.segments) next.segments = std::move(dropped.segments);
  if (!next.tmpfs) next.tmpfs = std::move(dropped.tmpfs);
}

std::int64_t forget_exited(Tick& tick, std::size_t most) {
  if (tick.born.size() <= most) return 0;
  const auto has_exited = [&tick](const ProcessInfo& info) {
    return std::ranges::binary_search(tick.exits, info.key, {}, &ProcessExit::key) ||
           std::ranges::binary_search(tick.exit_records, info.key, {}, &ExitRecord::process);
  };
  const auto ended = static_cast<std::size_t>(std::count_if(tick.born.begin(), tick.born.end(), has_exited));
  if (ended <= most) return 0;
  const std::size_t left = ended - most;
  std::vector<ProcessKey> forgotten;
  std::erase_if(tick.born, [&](const ProcessInfo& info) {
    if (forgotten.size() == left || !has_exited(info)) return false;
    forgotten.push_back(info.key);
    return true;
  });
  std::sort(forgotten.begin(), forgotten.end());
  const auto is_forgotten = [&](const ProcessKey& key) { return std::ranges::binary_search(forgotten, key); };
  std::erase_if(tick.exits, [&](const ProcessExit& exit) { return is_forgotten(exit.key); });
  std::erase_if(tick.exit_records, [&](const ExitRecord& end) { return is_forgotten(end.process); });
  std::erase_if(tick.extremes.processes, [&](const ProcessExtremes& of) { return is_forgotten(of.process); });
  return static_cast<std::int64_t>(forgotten.size());
}

}  // namespace memoir
