#include "recorder/work_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace memoir {
namespace {

std::size_t heap_bytes(const std::string& text) {
  static const std::size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 : 0;
}

// With these texts of each.
template <typename T, typename... Texts>
std::size_t heap_bytes(const std::vector<T>& items, Texts... texts) {
  std::size_t bytes = items.capacity() * sizeof(T);
  if constexpr (sizeof...(texts) > 0) {
    for (const T& item : items) bytes += (heap_bytes(item.*texts) + ...);
  }
  return bytes;
}

// Of all but the processes' samples.
std::size_t bytes_of(const Tick& tick) {
  std::size_t bytes =
      sizeof(tick) + heap_bytes(tick.exits) + heap_bytes(tick.ends) + heap_bytes(tick.ledgers) +
      heap_bytes(tick.born, &ProcessInfo::user, &ProcessInfo::comm, &ProcessInfo::exe, &ProcessInfo::command,
                 &ProcessInfo::cgroup, &ProcessInfo::cwd, &ProcessInfo::category) +
      heap_bytes(tick.end_sums, &EndSum::comm, &EndSum::user, &EndSum::cgroup) +
      heap_bytes(tick.oom_victims, &OomVictim::cgroup) + heap_bytes(tick.categories, &CategorySample::category) +
      heap_bytes(tick.cgroups, &CgroupSample::path) + heap_bytes(tick.machine.other, &OtherMeminfo::key) +
      heap_bytes(tick.extremes.processes) + heap_bytes(tick.extremes.categories) +
      heap_bytes(tick.extremes.cgroups, &CgroupExtremes::path);
  for (const ProcessLedger& of : tick.ledgers) {
    bytes += heap_bytes(of.ledger.rows);
    for (const MappingRow& row : of.ledger.rows) bytes += heap_bytes(row.name.label);
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

}  // namespace

void WorkQueue::push(WorkItem item) {
  Item waiting{.work = std::move(item)};
  if (auto* const tick = std::get_if<Tick>(&waiting.work)) pack_after_newest(*tick, waiting);
  add(items_.end(), std::move(waiting));
}

void WorkQueue::put_back(WorkItem item) {
  // What comes next cannot be kept as the difference to a tick that may be dropped from here.
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
  // There is a next one: a tick is dropped only when there are two.
  Item& next = *std::find_if(items_.begin(), items_.end(), is_tick);
  auto& tick = std::get<Tick>(next.work);
  merge_dropped(std::move(dropped), tick);
  lost_.processes += forget_ended(tick, kMostEnded);
  measure(next);
}

namespace {

// The later word on a process holds, but for one that only puts its reading off. Who ended has none.
void merge_ledgers(std::vector<ProcessLedger>&& dropped, Tick& next) {
  for (ProcessLedger& ledger : dropped) {
    const auto ended = std::ranges::find(next.exits, ledger.process, &ProcessExit::key);
    if (ended != next.exits.end()) continue;
    const auto later = std::ranges::find(next.ledgers, ledger.process, &ProcessLedger::process);
    if (later == next.ledgers.end()) {
      next.ledgers.push_back(std::move(ledger));
    } else if (later->state == LedgerState::deferred) {
      *later = std::move(ledger);
    }
  }
  std::ranges::sort(next.ledgers, {}, &ProcessLedger::process);
}

// However long nothing can be stored, they stay few.
void merge_sums(const std::vector<EndSum>& dropped, std::vector<EndSum>& next) {
  constexpr std::size_t most = 1'000;
  const auto names = [](const EndSum& sum) { return std::tie(sum.comm, sum.user, sum.cgroup); };
  for (const EndSum& sum : dropped) {
    auto of = std::ranges::find(next, names(sum), names);
    if (of == next.end() && next.size() >= most) of = std::ranges::find(next, std::string(), &EndSum::comm);
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

// The kernel will not tell them again.
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

// Of what looks saw, the peaks that processes ended with.
void merge_ends(Tick& dropped, Tick& next) {
  for (const ProcessExtremes& of : dropped.extremes.processes) {
    if (!of.hwm.any() || !std::ranges::binary_search(dropped.ends, of.process, {}, &ProcessEnd::process)) continue;
    auto later = std::ranges::find(next.extremes.processes, of.process, &ProcessExtremes::process);
    if (later == next.extremes.processes.end()) {
      later = next.extremes.processes.emplace(later);
      later->process = of.process;
    }
    later->hwm = of.hwm;
  }
  std::ranges::sort(next.extremes.processes, {}, &ProcessExtremes::process);
  std::ranges::move(dropped.ends, std::back_inserter(next.ends));
  std::ranges::sort(next.ends, {}, &ProcessEnd::process);
  merge_sums(dropped.end_sums, next.end_sums);
  std::ranges::move(next.oom_victims, std::back_inserter(dropped.oom_victims));
  next.oom_victims = std::move(dropped.oom_victims);
  constexpr std::size_t most_victims = 1'000;
  if (next.oom_victims.size() > most_victims) next.oom_victims.resize(most_victims);
  if (!dropped.events) return;
  TickEvents& events = next.events ? *next.events : next.events.emplace();
  events.ends += dropped.events->ends;
  events.lost += dropped.events->lost;
}

}  // namespace

void merge_dropped(Tick&& dropped, Tick& next) {
  next.keyframe |= dropped.keyframe;
  next.skipped += dropped.skipped;
  next.counts.born += dropped.counts.born;
  next.counts.exited += dropped.counts.exited;
  next.counts.execed += dropped.counts.execed;
  // The newer description of a process wins. The older births come first: a process has its row before what follows it.
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
  merge_ledgers(std::move(dropped.ledgers), next);
  if (!next.segments) next.segments = std::move(dropped.segments);
  if (!next.tmpfs) next.tmpfs = std::move(dropped.tmpfs);
}

std::int64_t forget_ended(Tick& tick, std::size_t most) {
  if (tick.born.size() <= most) return 0;
  const auto has_ended = [&tick](const ProcessInfo& info) {
    return std::ranges::binary_search(tick.exits, info.key, {}, &ProcessExit::key) ||
           std::ranges::binary_search(tick.ends, info.key, {}, &ProcessEnd::process);
  };
  const auto ended = static_cast<std::size_t>(std::count_if(tick.born.begin(), tick.born.end(), has_ended));
  if (ended <= most) return 0;
  const std::size_t left = ended - most;
  std::vector<ProcessKey> forgotten;
  std::erase_if(tick.born, [&](const ProcessInfo& info) {
    if (forgotten.size() == left || !has_ended(info)) return false;
    forgotten.push_back(info.key);
    return true;
  });
  std::sort(forgotten.begin(), forgotten.end());
  const auto is_forgotten = [&](const ProcessKey& key) { return std::ranges::binary_search(forgotten, key); };
  std::erase_if(tick.exits, [&](const ProcessExit& exit) { return is_forgotten(exit.key); });
  std::erase_if(tick.ends, [&](const ProcessEnd& end) { return is_forgotten(end.process); });
  std::erase_if(tick.extremes.processes, [&](const ProcessExtremes& of) { return is_forgotten(of.process); });
  return static_cast<std::int64_t>(forgotten.size());
}

}  // namespace memoir
