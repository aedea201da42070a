#pragma once

// A small machine of which a test tells every tick, written to a file by the store's own writer: what the answers must
// say is then known to the KiB.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/writer.h"
#include "support/temporary_directory.h"

namespace memoir::test {

struct Person {
  std::string comm;
  std::string command;
  std::string category = "other";
  std::string user = "root";
  std::string cgroup = "/system.slice";
};

class History {
 public:
  // 2026-11-19 00:00:00 UTC, in intervals of 10 s.
  static constexpr std::int64_t kStart = 1'795'046'400'000;
  static constexpr std::int64_t kInterval = 10'000;

  explicit History(std::int64_t interval_ms = kInterval);

  void begin_run();
  // In order; or as a kill -9 leaves it.
  void end_run(const std::string& reason = "stopped");
  void kill() { writer_.reset(); }

  void birth(std::int32_t pid, const Person& person, std::int64_t pss_kib);
  void parent(std::int32_t pid, std::int32_t parent_pid);  // 1 at birth
  void hold(std::int32_t pid, std::int64_t pss_kib);       // PSS = USS = RSS; the mark follows
  void mark(std::int32_t pid, std::int64_t hwm_kib);       // a spike that no tick saw
  void approximate(std::int32_t pid);                      // its rollup may not be read
  void zombie(std::int32_t pid);
  void death(std::int32_t pid);
  void machine(std::int64_t used_kib, std::int64_t swap_kib = 0);  // of 16 GiB, and 4 GiB of swap

  void cgroup(const CgroupSample& sample);  // from now on

  void oom_kills(std::int64_t count);  // the kernel's counter
  void machine(MachineField field, std::int64_t value) { machine_.memory.set(field, value); }

  // One tick now, or several; the time goes on by the interval after each.
  void tick(int count = 1);
  void maintain();  // as the recorder does between ticks, until there is nothing more to do
  void pause(std::int64_t ms) { now_.wall_ms += ms, now_.boot_ms += ms; }
  void event(const std::string& kind, const std::string& text);

  std::int64_t now_ms() const { return now_.wall_ms; }
  std::string path() const { return directory_.path() + "/memoir.db"; }

 private:
  struct Life {
    ProcessInfo info;
    ProcessSample sample;
    bool newborn = true;
  };

  Tick make_tick();
  std::vector<CategorySample> totals() const;

  std::int64_t interval_ms_;
  TemporaryDirectory directory_;
  std::unique_ptr<Writer> writer_;
  Moment now_{kStart, 86'400'000};
  std::map<std::int32_t, Life> lives_;
  std::vector<ProcessExit> exits_;
  std::map<std::string, CgroupSample> cgroups_;
  MachineSample machine_;
  std::int64_t last_keyframe_ms_ = 0;
  std::uint64_t births_ = 0;
};

}  // namespace memoir::test
