#pragma once

// A simulated machine. Makes the ticks that a collector would make on a server with a given number of processes, of
// which a given share changes in each tick. The same seed gives the same history. Values add up as the kernel's do.
// Besides long-running processes there may be some that run for seconds or minutes.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/tick.h"

namespace memoir::test {

struct SimulationOptions {
  std::size_t processes = 300;
  double changing = 0.05;  // share of the processes that change in a tick
  bool skewed = false;     // few processes change often and most hardly ever, as on a server; the average stays
  double births = 0.05;    // processes started per tick on average; as many exit
  double short_lived =
      0;  // processes per hour that run from 1 s to 10 min; of twenty, 14 run up to 20 s and 5 up to 4 min
  // Processes of eight users in the first hour of each day that run for two ticks. Each has its own name, until the
  // user has as many names as the recorder stores per day.
  std::int64_t flood = 0;
  std::int64_t interval_ms = 10'000;
  std::uint64_t seed = 1;
  Moment start{1'790'000'000'000, 86'400'000};  // time of the first tick
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options = {});

  BootInfo boot() const;
  Moment now() const { return now_; }

  // Returns the tick at now(), and advances by one interval. The first tick, one tick per hour, and requested ticks are
  // keyframes.
  Tick next(bool keyframe = false);

  // Advances the time without a tick; processes do not change.
  void pause(std::int64_t ms);
  void step_wall(std::int64_t ms);
  // All processes exit, and others start in a new boot.
  void reboot();

 private:
  struct Process {
    ProcessInfo info;
    ProcessSample sample;
    double activity = 0;       // probability of a change per tick
    std::int64_t ends_ms = 0;  // exit time on the boot clock; 0: keeps running
  };

  std::int64_t random(std::int64_t from, std::int64_t to);
  bool chance(double probability);
  Process make(std::int64_t start_ms);
  Process make_short_lived(std::int64_t start_ms);
  void move(Process& process);
  void add_up(Process& process);
  void read(ProcessSample& sample) const;
  void age(Tick& tick);
  void end(std::vector<Process>::iterator victim, Tick& tick);
  void begin(Process process, Tick& tick);
  void age_short_lived(Tick& tick);
  void age_flood(Tick& tick);
  void move_machine();
  std::vector<CategorySample> totals() const;

  SimulationOptions options_;
  std::mt19937_64 engine_;
  Moment now_;
  std::int64_t boots_ = 1;
  std::int32_t last_pid_ = 300;
  std::int64_t ticks_ = 0;          // ticks of this boot
  std::int64_t flooded_ = 0;        // processes of the current day's flood
  std::vector<Process> processes_;  // sorted by key
  MachineSample machine_;
};

}  // namespace memoir::test
