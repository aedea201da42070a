#pragma once

// A small machine of which a test tells every tick, written to a file by the store's own writer: what the answers must
// say is then known to the KiB.

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
  // 2026-11-19 00:00:00 UTC, in intervals of 10 s.
  static constexpr std::int64_t kStart = 1'795'046'400'000;
  static constexpr std::int64_t kInterval = 10'000;
  static constexpr std::int64_t kMinute = 60'000;
  static constexpr std::int64_t kHour = 60 * kMinute;

  // `start_ms`, on the wall: of the first tick.
  explicit History(std::int64_t interval_ms = kInterval, std::int64_t start_ms = kStart, std::string host = "testhost");

  void begin_run(const std::string& census = "");
  // In order; or as a kill -9 leaves it.
  void end_run(const std::string& reason = "stopped");
  void kill() { writer_.reset(); }

  void birth(std::int32_t pid, const Person& person, std::int64_t pss_kib);
  void parent(std::int32_t pid, std::int32_t parent_pid);  // 1 at birth
  void hold(std::int32_t pid, std::int64_t pss_kib);       // PSS = USS = RSS; the mark follows
  void mark(std::int32_t pid, std::int64_t hwm_kib);       // a spike that no tick saw
  void approximate(std::int32_t pid);                      // its rollup may not be read
  void estimated(std::int32_t pid);                        // from now on the ticks tell how PSS is known
  void exact(std::int32_t pid,
             std::int64_t thought_kib);  // and is read at the next tick, which checks what was thought
  void zombie(std::int32_t pid);
  // A look after the last tick saw it at this time.
  void seen(std::int32_t pid, std::int64_t rss_kib, std::int64_t at_ms);
  void set(std::int32_t pid, ProcessField field, std::optional<std::int64_t> kib);  // absent: not in its rollup
  void death(std::int32_t pid);
  // From now on the kernel tells of ends.
  void tell_ends() { events_.emplace(); }
  // One that no tick saw: it lived for 40 ms and ended 2 s before the next tick.
  void flash(std::int32_t pid, const Person& person, std::int64_t peak_kib, std::int32_t exit_code = 0);
  void flashes(const std::string& comm, std::int64_t count, std::int64_t peak_kib);  // small ones
  void lost_events(std::int64_t count) { events_->lost += count; }
  void machine(std::int64_t used_kib, std::int64_t swap_kib = 0);  // of 16 GiB, and 4 GiB of swap

  void cgroup(const CgroupSample& sample);                            // from now on
  void cgroup_peak(const std::string& path, std::int64_t usage_kib);  // since the tick before, told with the next
  void cgroup_detail(const CgroupDetail& detail);
  void container(const CgroupContainer& container);
  void ledger(std::int32_t pid, ProcessLedger ledger);  // read at the next tick

  void owner(std::int32_t pid, std::uint32_t uid) { lives_.at(pid).info.uid = uid; }     // before its first tick
  void segments(std::vector<SysvSegment> segments) { segments_ = std::move(segments); }  // from the next tick on
  void tmpfs(std::vector<TmpfsSample> mounts) { tmpfs_ = std::move(mounts); }
  // A segment, and a tmpfs at /dev/shm and at each of these places, with files of these names.
  void outside(const std::vector<std::string>& names = {});
  void malformed(std::int64_t count) { malformed_ = count; }

  void oom_kills(std::int64_t count);                                               // the kernel's counter
  void oom_victim(OomVictim victim) { oom_victims_.push_back(std::move(victim)); }  // told with the next tick
  void machine(MachineField field, std::int64_t value) { machine_.memory.set(field, value); }

  // One tick now, or several; the time goes on by the interval after each.
  void tick(int count = 1);
  void maintain();  // as the recorder does between ticks, until there is nothing more to do
  void pause(std::int64_t ms) { now_.wall_ms += ms, now_.boot_ms += ms; }
  void event(const std::string& kind, const std::string& text);

  std::int64_t now_ms() const { return now_.wall_ms; }
  std::string path() const { return directory_.path() + "/memoir.db"; }

 private:
  static constexpr std::int64_t kUptime = 86'400'000;  // at the first tick

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
  std::map<std::int32_t, ProcessLedger> ledgers_;
  std::vector<ProcessExtremes> seen_;
  std::vector<CgroupExtremes> cgroup_peaks_;
  std::optional<TickEvents> events_;  // of the next tick
  std::vector<ProcessInfo> flashed_;
  std::vector<ProcessEnd> ends_;
  std::vector<EndSum> end_sums_;
  std::vector<OomVictim> oom_victims_;
  std::optional<TickReads> reads_;  // of the next tick
  std::map<std::string, CgroupSample> cgroups_;
  std::map<std::string, CgroupDetail> cgroup_details_;
  std::vector<CgroupContainer> containers_;
  std::optional<std::vector<SysvSegment>> segments_;  // to be told
  std::optional<std::vector<TmpfsSample>> tmpfs_;
  std::int64_t malformed_ = 0;
  MachineSample machine_;
  std::int64_t last_keyframe_ms_ = 0;
  std::uint64_t births_ = 0;
};

// What `record` made, once for all tests of a program.
template <void (*record)(History&), std::int64_t interval_ms = History::kInterval>
History& recorded() {
  static History history(interval_ms);
  static const bool done = (record(history), true);
  static_cast<void>(done);
  return history;
}

}  // namespace memoir::test
