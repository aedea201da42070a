#pragma once

// A small machine: a test describes every tick, and the store's own writer writes the file. The right answers are known
// exactly.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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
  // 2026-11-19 00:00:00 UTC, with an interval of 10 s.
  static constexpr std::int64_t kStart = 1'795'046'400'000;
  static constexpr std::int64_t kInterval = 10'000;
  static constexpr std::int64_t kMinute = 60'000;
  static constexpr std::int64_t kHour = 60 * kMinute;

  // `start_ms` is the wall time of the first tick.
  explicit History(std::int64_t interval_ms = kInterval, std::int64_t start_ms = kStart, std::string host = "testhost");

  void begin_run(const std::string& census = "");
  // Ends the run with a clean stop; kill() leaves the state after kill -9.
  void end_run(const std::string& reason = "stopped");
  void kill() { writer_.reset(); }

  void birth(std::int32_t pid, const Person& person, std::int64_t pss_kib);
  void parent(std::int32_t pid, std::int32_t parent_pid);  // the parent is 1 at the start
  void hold(std::int32_t pid, std::int64_t pss_kib);       // PSS = USS = RSS; the mark follows
  void mark(std::int32_t pid, std::int64_t hwm_kib);       // raises VmHWM, as an unsampled peak does
  void approximate(std::int32_t pid);                      // its rollup becomes unreadable
  void estimated(std::int32_t pid);  // its PSS is estimated from now on; ticks then have TickReads
  void exact(std::int32_t pid,
             std::int64_t thought_kib);  // the next tick reads it, and checks the estimate `thought_kib`
  void zombie(std::int32_t pid);
  // Adds a scan after the last tick, at this time.
  void seen(std::int32_t pid, std::int64_t rss_kib, std::int64_t at_ms);
  void set(std::int32_t pid, ProcessField field, std::optional<std::int64_t> kib);  // nullopt: not in its rollup
  void death(std::int32_t pid);
  void exec(std::int32_t pid, const Person& person, std::int64_t pss_kib);
  // The process execs and exits before the next tick.
  void exec_and_exit(std::int32_t pid, const Person& person, std::int64_t peak_kib, std::int32_t exit_code);
  // The next tick reports the exit, with a time 1 s before the tick. `exit_code` is a status of wait(2).
  void report_exit(std::int32_t pid, std::int32_t exit_code);
  // The kernel reports exits from now on.
  void tell_ends() { events_.emplace(); }
  // Adds an unsampled process that ran for 40 ms and exited 2 s before the next tick.
  void flash(std::int32_t pid, const Person& person, std::int64_t peak_kib, std::int32_t exit_code = 0);
  void flashes(const std::string& comm, std::int64_t count, std::int64_t peak_kib);  // adds many small processes
  void lost_events(std::int64_t count) { events_->lost += count; }
  void machine(std::int64_t used_kib, std::int64_t swap_kib = 0);  // used memory of 16 GiB, and used swap of 4 GiB

  void cgroup(const CgroupSample& sample);                            // the cgroup's state from now on
  void cgroup_peak(const std::string& path, std::int64_t usage_kib);  // the cgroup's peak before the next tick
  void cgroup_detail(const CgroupDetail& detail);
  void container(const CgroupContainer& container);
  void summary(std::int32_t pid, ProcessMappings summary);  // the next tick reads this summary

  void owner(std::int32_t pid, std::uint32_t uid) { lives_.at(pid).info.uid = uid; }  // call it before the first tick
  void settings(std::int32_t pid, const ProcessSettings& of) { lives_.at(pid).info.settings = of; }
  void segments(std::vector<SysvSegment> segments) { segments_ = std::move(segments); }  // valid from the next tick on
  void tmpfs(std::vector<TmpfsSample> mounts) { tmpfs_ = std::move(mounts); }
  // Adds a segment and several tmpfs mounts: /dev/shm, and one mount point per name. Each has files of all these names.
  void shmem(const std::vector<std::string>& names = {});
  void malformed(std::int64_t count) { malformed_ = count; }

  void oom_kills(std::int64_t count);                                               // the value of the kernel's counter
  void oom_victim(OomVictim victim) { oom_victims_.push_back(std::move(victim)); }  // the next tick reports it
  void machine(MachineField field, std::int64_t value) { machine_.memory.set(field, value); }

  // Writes a tick now, or several; the time advances by the interval after each.
  void tick(int count = 1);
  void maintain();  // does all maintenance, as the recorder does between ticks
  void pause(std::int64_t ms) { now_.wall_ms += ms, now_.boot_ms += ms; }
  void step_wall(std::int64_t ms) { now_.wall_ms += ms; }
  void event(const std::string& kind, const std::string& text);

  std::int64_t now_ms() const { return now_.wall_ms; }
  std::string path() const { return directory_.path() + "/memoir.db"; }

 private:
  static constexpr std::int64_t kUptime = 86'400'000;  // uptime at the first tick

  struct Life {
    ProcessInfo info;
    ProcessSample sample;
    bool newborn = true;
  };

  Tick make_tick();
  std::vector<CategorySample> totals() const;

  std::int64_t interval_ms_;
  std::string host_;
  std::int64_t boot_ms_;
  Moment now_;
  TemporaryDirectory directory_;
  std::unique_ptr<Writer> writer_;
  std::map<std::int32_t, Life> lives_;
  std::vector<ProcessExit> exits_;
  std::map<std::int32_t, ProcessMappings> summaries_;
  std::vector<ProcessExtremes> seen_;
  std::vector<CgroupExtremes> cgroup_peaks_;
  std::optional<TickEvents> events_;  // counts of events for the next tick
  std::vector<ProcessInfo> flashed_;
  std::vector<ExitRecord> ends_;
  std::vector<ExitSum> exit_sums_;
  std::vector<OomVictim> oom_victims_;
  std::optional<TickReads> reads_;  // counts of reads for the next tick
  std::map<std::string, CgroupSample> cgroups_;
  std::map<std::string, CgroupDetail> cgroup_details_;
  std::vector<CgroupContainer> containers_;
  std::optional<std::vector<SysvSegment>> segments_;  // segments that the next tick reports
  std::optional<std::vector<TmpfsSample>> tmpfs_;
  std::int64_t malformed_ = 0;
  MachineSample machine_;
  std::int64_t last_keyframe_ms_ = 0;
  std::uint64_t births_ = 0;
};

// The recording of `record`, made once for all tests of a program.
template <void (*record)(History&), std::int64_t interval_ms = History::kInterval>
History& recorded() {
  static History history(interval_ms);
  static const bool done = (record(history), true);
  static_cast<void>(done);
  return history;
}

}  // namespace memoir::test
