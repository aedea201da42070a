#pragma once

// What else a recorder sees on a simulated machine: cgroups, containers among them, tmpfs mounts, SysV segments, and
// the ledgers of the largest processes. As often as the recorder's defaults read them, and as much of it moves as on a
// busy server.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/tick.h"

namespace memoir::test {

class SimulatedHolders {
 public:
  struct Options {
    std::size_t cgroups = 200;
    std::size_t mounts = 3;
    std::size_t segments = 20;
    std::size_t ledgers = 20;
    std::size_t labels = 24;
  };

  SimulatedHolders() : SimulatedHolders(Options()) {}
  explicit SimulatedHolders(const Options& options);

  // In the order of time. Of each two processes that are born one is in a container.
  void add_to(Tick& tick);

 private:
  std::int64_t random(std::int64_t from, std::int64_t to);
  bool chance(double probability);
  void add_cgroups(Tick& tick);
  void add_details(Tick& tick) const;
  void add_segments(Tick& tick);
  void add_mounts(Tick& tick);
  void add_ledgers(Tick& tick);
  MappingLedger ledger_of(const ProcessSample& sample);

  Options options_;
  std::mt19937_64 engine_{1};
  std::int64_t ticks_ = 0;
  std::vector<CgroupSample> cgroups_;  // sorted by path
  std::vector<CgroupContainer> containers_;
  std::vector<SysvSegment> segments_;
  std::vector<TmpfsSample> mounts_;
  std::map<ProcessKey, std::int64_t> read_;  // when the ledger of each was
};

}  // namespace memoir::test
