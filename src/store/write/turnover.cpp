#include "store/write/turnover.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace memoir {
namespace {

using Life = std::pair<std::int32_t, std::uint64_t>;  // pid and start, which survive an exec

Life life_of(const ProcessKey& key) {
  return {key.pid, key.start_ticks};
}

class TurnoverCount {
 public:
  TurnoverCount(const std::vector<LiveProcess>& before, const Tick& tick) : before_(before), tick_(tick) {
    for (const ExitRecord& record : tick.exit_records) lifetimes_[life_of(record.process)] = record.lived_ms;
  }

  TickActivity result(bool is_first) {
    compare();
    if (is_first) count_.started = 0;
    add_unsampled();
    return count_;
  }

 private:
  // Compares the processes of the previous tick with those of this one.
  void compare() {
    auto old = before_.begin();
    for (const ProcessSample& sample : tick_.processes) {
      const Life life = life_of(sample.key);
      for (; old != before_.end() && life_of(old->key()) < life; ++old) {
        if (was_alive(*old)) add_exit(*old);
      }
      const bool is_known = old != before_.end() && life_of(old->key()) == life;
      const bool is_alive = !has_exited(sample);
      // In a run's first tick the earlier state is unknown: a zombie counts as having been one before, too.
      const bool was = is_known && (old->stored ? was_alive(*old) : is_alive);
      if (is_alive) ++count_.alive;
      if (is_alive && !was) ++count_.started;
      if (was && !is_alive) add_exit(*old);
      if (is_known) ++old;
    }
    for (; old != before_.end(); ++old) {
      if (was_alive(*old)) add_exit(*old);
    }
  }

  static bool was_alive(const LiveProcess& live) { return !live.stored || !has_exited(live.last); }

  void add_exit(const LiveProcess& live) {
    const auto reported = lifetimes_.find(life_of(live.key()));
    add_exit(reported != lifetimes_.end() ? reported->second : tick_.begin.wall_ms - live.start_ms);
  }

  void add_exit(std::int64_t lived_ms, std::int64_t processes = 1) {
    count_.exited += processes;
    if (lived_ms < kShortLifeMs * processes) count_.short_lived += processes;
  }

  // Adds the processes that started and exited between the two ticks. The kernel reported their exits; or the tick
  // describes them without a sample, because ticks with them could not be stored; or, without kernel events, they are
  // zombies.
  void add_unsampled() {
    std::set<Life> lives;
    for (const auto& [life, lived_ms] : lifetimes_) lives.insert(life);
    for (const ProcessInfo& info : tick_.born) {
      if (sample_of(life_of(info.key)) == nullptr) lives.insert(life_of(info.key));
    }
    if (!tick_.events) {
      for (const ProcessSample& sample : tick_.processes) {
        if (has_exited(sample)) lives.insert(life_of(sample.key));
      }
    }
    for (const Life& life : lives) {
      const ProcessSample* const sample = sample_of(life);
      if (is_of_before(life) || (sample != nullptr && !has_exited(*sample))) continue;
      const auto reported = lifetimes_.find(life);
      ++count_.started;
      add_exit(reported != lifetimes_.end() ? reported->second : 0);
    }
    for (const ExitSum& sum : tick_.exit_sums) {
      count_.started += sum.count;
      add_exit(sum.lived_ms, sum.count);
    }
  }

  const ProcessSample* sample_of(const Life& life) const {
    return find_sorted(tick_.processes, life, [](const ProcessSample& sample) { return life_of(sample.key); });
  }

  bool is_of_before(const Life& life) const {
    return find_sorted(before_, life, [](const LiveProcess& live) { return life_of(live.key()); }) != nullptr;
  }

  const std::vector<LiveProcess>& before_;
  const Tick& tick_;
  std::map<Life, std::int64_t> lifetimes_;  // lifetimes of reported exits, in ms
  TickActivity count_;
};

}  // namespace

TickActivity count_turnover(const std::vector<LiveProcess>& before, const Tick& tick, bool is_first) {
  return TurnoverCount(before, tick).result(is_first);
}

}  // namespace memoir
