#pragma once

// Other data that a recorder reads on a simulated machine: cgroups and containers, tmpfs mounts, SysV segments, and
// mappings of the largest processes. It is read at the recorder's default intervals, with as many changes as on a busy
// server.

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
    std::size_t summaries = 20;
    std::size_t labels = 24;
  };

  SimulatedHolders() : SimulatedHolders(Options()) {}
  explicit SimulatedHolders(const Options& options);

  // Ticks must be added in order of time. Every second started process is in a container.
  void add_to(Tick& tick);

 private:
  std::int64_t random(std::int64_t from, std::int64_t to);
  bool chance(double probability);
  void add_cgroups(Tick& tick);
  void add_details(Tick& tick) const;
  void add_segments(Tick& tick);
  void add_mounts(Tick& tick);
  void add_summaries(Tick& tick);
  MappingSummary summary_of(const ProcessSample& sample);

  Options options_;
  std::mt19937_64 engine_{1};
  std::int64_t ticks_ = 0;
  std::vector<CgroupSample> cgroups_;  // sorted by path
  std::vector<CgroupContainer> containers_;
  std::vector<SysvSegment> segments_;
  std::vector<TmpfsSample> mounts_;
  std::map<ProcessKey, std::int64_t> read_;  // time of each process's last mapping read
};

}  // namespace memoir::test
