#include "recorder/work_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace memoir {
namespace {

bool is_tick(const WorkItem& item) {
  return std::holds_alternative<Tick>(item);
}

}  // namespace

void WorkQueue::push(WorkItem item) {
  ticks_ += is_tick(item) ? 1U : 0U;
  items_.push_back(std::move(item));
  if (ticks_ > max_ticks_) drop_oldest_tick();
}

std::optional<WorkItem> WorkQueue::take() {
  if (items_.empty()) return std::nullopt;
  WorkItem item = std::move(items_.front());
  items_.pop_front();
  ticks_ -= is_tick(item) ? 1U : 0U;
  return item;
}

void WorkQueue::put_back(WorkItem item) {
  ticks_ += is_tick(item) ? 1U : 0U;
  items_.push_front(std::move(item));
  if (ticks_ > max_ticks_) drop_oldest_tick();
}

bool WorkQueue::has_run_end() const {
  return std::any_of(items_.begin(), items_.end(),
                     [](const WorkItem& item) { return std::holds_alternative<RunEnd>(item); });
}

void WorkQueue::drop_oldest_tick() {
  const auto oldest = std::find_if(items_.begin(), items_.end(), is_tick);
  const auto next = std::find_if(std::next(oldest), items_.end(), is_tick);
  Tick dropped = std::get<Tick>(std::move(*oldest));
  if (lost_.count++ == 0) lost_.first_ms = dropped.begin.wall_ms;
  lost_.last_ms = dropped.begin.wall_ms;
  // There is a next one: a tick is dropped only when there are more than max_ticks_, which is at least 1.
  merge_dropped(std::move(dropped), std::get<Tick>(*next));
  lost_.processes += forget_ended(std::get<Tick>(*next), kMostEnded);
  items_.erase(oldest);
  --ticks_;
}

void merge_dropped(Tick&& dropped, Tick& next) {
  next.keyframe |= dropped.keyframe;
  next.skipped += dropped.skipped;
  next.counts.born += dropped.counts.born;
  next.counts.exited += dropped.counts.exited;
  next.counts.execed += dropped.counts.execed;
  // The newer description of a process wins. The older births come first: a process has its row before what follows it.
  const auto described_later = [&next](const ProcessInfo& info) {
    return std::any_of(next.born.begin(), next.born.end(),
                       [&info](const ProcessInfo& later) { return later.key == info.key; });
  };
  std::erase_if(dropped.born, described_later);
  dropped.born.insert(dropped.born.end(), std::make_move_iterator(next.born.begin()),
                      std::make_move_iterator(next.born.end()));
  next.born = std::move(dropped.born);
  next.exits.insert(next.exits.end(), dropped.exits.begin(), dropped.exits.end());
  std::sort(next.exits.begin(), next.exits.end(),
            [](const ProcessExit& a, const ProcessExit& b) { return a.key < b.key; });
}

std::int64_t forget_ended(Tick& tick, std::size_t most) {
  if (tick.born.size() <= most) return 0;
  const auto has_ended = [&tick](const ProcessInfo& info) {
    return std::binary_search(tick.exits.begin(), tick.exits.end(), ProcessExit{info.key, {}},
                              [](const ProcessExit& a, const ProcessExit& b) { return a.key < b.key; });
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
  std::erase_if(tick.exits, [&](const ProcessExit& exit) {
    return std::binary_search(forgotten.begin(), forgotten.end(), exit.key);
  });
  return static_cast<std::int64_t>(forgotten.size());
}

}  // namespace memoir
