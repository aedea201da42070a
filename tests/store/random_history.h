#pragma once

// Ticks that no real machine produces: any field may be absent or have any value, processes appear, exit and reappear,
// execs keep the pid, and ticks are lost on their way to the store. The expected answers are kept with them.

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/tick.h"

namespace memoir::test {

class RandomHistory {
 public:
  explicit RandomHistory(std::uint32_t seed);

  BootInfo boot() const;
  Moment now() const { return now_; }

  Tick next();
  // Advances the machine by a tick that is lost.
  void lose_tick();
  // Starts the recorder again, after a reboot of the machine if `reboot`.
  void restart(bool reboot);

  // The last report of each process, by boot and key.
  using Infos = std::map<std::pair<std::string, ProcessKey>, ProcessInfo>;
  const Infos& infos() const { return infos_; }

  bool chance(double probability);
  std::int64_t number(std::int64_t from, std::int64_t to);

 private:
  struct Life {
    ProcessInfo info;
    ProcessSample sample;
    bool reported = false;
  };

  void live();
  void give_birth(std::int32_t pid, std::uint64_t start_ticks, std::uint32_t execs);
  void move(ProcessSample& sample);
  void move_machine();
  void move_cgroups();
  void report(Life& life, Tick& tick);

  std::mt19937 engine_;
  Moment now_{1'790'000'000'000, 5'000'000};
  std::int64_t boots_ = 1;
  std::map<ProcessKey, Life> lives_;
  std::map<ProcessKey, Life> hidden_;  // processes that are unsampled for a while
  std::vector<ProcessExit> exits_;
  MachineSample machine_;
  std::map<std::string, CgroupSample> cgroups_;
  Infos infos_;
};

}  // namespace memoir::test
