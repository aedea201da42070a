#pragma once

// A machine that lives in memory: makes the ticks that a collector would see on a server with a given number of
// processes, of which a given share moves in each tick. The same seed makes the same history. Parts add up as the
// kernel's do. Beside those that live on there may be some that live for seconds or minutes.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/tick.h"

namespace memoir::test {

struct SimulationOptions {
  std::size_t processes = 300;
  double changing = 0.05;  // share of the processes whose memory moves in a tick
  bool skewed = false;     // few of them move often, most hardly ever, as on a server; the same share on average
  double births = 0.05;    // processes born per tick on average; as many exit
  double short_lived =
      0;  // processes per hour that live from 1 s to 10 min: of each twenty 14 up to 20 s, 5 up to 4 min
  std::int64_t interval_ms = 10'000;
  std::uint64_t seed = 1;
  Moment start{1'790'000'000'000, 86'400'000};  // of the first tick
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options = {});

  BootInfo boot() const;
  Moment now() const { return now_; }

  // The tick at now(); afterwards it is one interval later. Keyframes at the first tick, hourly, and where asked for.
  Tick next(bool keyframe = false);

  // Time passes without a tick, while the processes stay as they are.
  void pause(std::int64_t ms);
  void step_wall(std::int64_t ms);
  // All processes end, others begin in a new boot.
  void reboot();

 private:
  struct Process {
    ProcessInfo info;
    ProcessSample sample;
    double activity = 0;       // chance to move in a tick
    std::int64_t ends_ms = 0;  // on the boot clock; 0: it lives on
  };

  std::int64_t random(std::int64_t from, std::int64_t to);
  bool chance(double probability);
  Process make(std::int64_t start_ms);
  Process make_short_lived(std::int64_t start_ms);
  void move(Process& process);
  void add_up(Process& process);
  void age(Tick& tick);
  void end(std::vector<Process>::iterator victim, Tick& tick);
  void begin(Process process, Tick& tick);
  void age_short_lived(Tick& tick);
  void move_machine();
  std::vector<CategorySample> totals() const;

  SimulationOptions options_;
  std::mt19937_64 engine_;
  Moment now_;
  std::int64_t boots_ = 1;
  std::int32_t last_pid_ = 300;
  std::int64_t ticks_ = 0;          // in this boot
  std::vector<Process> processes_;  // sorted by key
  MachineSample machine_;
};

}  // namespace memoir::test
