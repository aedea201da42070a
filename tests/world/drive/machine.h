#pragma once

// A world that advances by steps, as a recorder finds it: files below a fake /proc, a census, events and a clock. Also
// records the truth.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "census/census.h"
#include "support/fake_events.h"
#include "support/fake_proc.h"
#include "support/manual_clock.h"
#include "world/drive/step.h"
#include "world/truth.h"
#include "world/world.h"

namespace memoir::world {

class Machine {
 public:
  static constexpr std::int64_t kStartMs = 1'795'045'800'000;  // 2026-11-18 23:50 UTC, shortly before midnight
  static constexpr std::int64_t kUptimeMs = 5'000'000;         // uptime at kStartMs

  Machine();

  // Returns false if the step does not concern the machine, or if its subject does not exist.
  bool apply(const Step& step);

  // Writes the changes since the last call to the fake /proc.
  void render();

  // Called when the recorder starts: events are reported from now on.
  void listen();
  void stop_listening();
  // Returns the expected values of a tick at this time.
  TickTruth observe() const;
  // Called when a tick was stored, with the events so far.
  void record_tick(TickTruth tick);
  // Restores the files with odd lines.
  void end_odd_line();

  const World& world() const { return world_; }
  const Truth& truth() const { return truth_; }
  Truth& truth() { return truth_; }
  const test::ManualClock& clock() const { return clock_; }
  const ProcFs& proc() const { return proc_.proc(); }
  std::unique_ptr<Census> census() const;
  std::unique_ptr<ProcessEvents> events() const;
  const std::optional<OddLine>& odd() const { return odd_; }

 private:
  void report(ProcessEventKind kind, const Process& process, std::int32_t exit_code = 0);
  void begin_image(const Process& process);
  void end_image(const Process& process, bool exits);
  void update_peaks();
  void render_odd_line();

  World world_;
  Truth truth_;
  test::ManualClock clock_{{kStartMs, kUptimeMs}};
  test::FakeProc proc_;
  std::shared_ptr<test::FakeEvents::Script> events_ = std::make_shared<test::FakeEvents::Script>();
  bool listening_ = false;
  struct PendingExit {
    int serial = 0;
    std::int64_t hwm_kib = 0;
  };
  std::vector<PendingExit> pending_;           // exits that no tick has reported yet
  std::map<int, test::FakeProcess> rendered_;  // processes as last written to the fake /proc, by serial
  std::set<int> execed_;                       // serials of processes that have exec'd since then
  std::optional<OddLine> odd_;
};

}  // namespace memoir::world
