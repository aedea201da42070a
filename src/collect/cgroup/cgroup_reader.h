#pragma once

// Reads limits and usage of the cgroups of live processes, and of their ancestors. Usage is read at ticks at which a
// process in or below the cgroup changed, and reported if it changed by more than a 256th (and 128 KiB). Slow-changing
// values (limits, events, pressure) are read once a minute while the cgroup changes, and immediately near a limit or
// after an OOM kill. Values that are not read stay valid. Peaks are read together with usage; peaks between two ticks
// are added to the tick's extremes. Files are small and stay open.
//
// In addition, each cgroup is read completely once in five minutes, in rotation. This detects changes that no process
// caused, and files that were missing before.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cached_file.h"
#include "collect/collect_context.h"
#include "collect/interval_extremes.h"
#include "collect/pss/read_request.h"
#include "model/cgroup.h"
#include "proc/cgroup_fs.h"

namespace memoir {

// A process as a member of its cgroup.
struct CgroupMember {
  std::string_view cgroup;
  bool moved = false;     // the process's memory has changed since the previous tick
  std::uint32_t uid = 0;  // uid of its user
};

// Limits on the number of known cgroups, and on the time for reading them in a tick. Cgroups of root's processes have
// their own limit. Processes in cgroups beyond the limits count in the cgroup above.
struct CgroupLimits {
  std::size_t of_user = 512;
  std::size_t of_users = 2048;
  std::size_t of_root = 4096;
  std::int64_t read_us = 300'000;
};

// Cgroups omitted at the last tick.
struct CgroupsLeft {
  std::size_t unknown = 0;  // number of processes in cgroups beyond the limits
  std::size_t unread = 0;   // number of cgroups that were due, but not read
};

class CgroupReader {
 public:
  CgroupReader(CgroupFs cgroups, DescriptorBudget& budget, const CgroupLimits& limits = {})
      : cgroups_(std::move(cgroups)), budget_(budget), limits_(limits) {}

  // Adds a request for the complete readings that are due, with their expected cost.
  void claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const;

  // A tick calls begin(), read() and report(), in this order. Only read() may block. A tick without report() loses
  // nothing: the next one reports what it has read. Then read() must have returned, or must not have been called.
  //
  // Chooses what the tick reads. Cgroups without processes in or below them are dropped one tick later. `turns`:
  // whether the rotation of complete readings continues; the first tick reads all cgroups completely.
  void begin(const std::vector<CgroupMember>& members, bool refresh, const Tick& tick, bool turns = true);
  // Reads the cgroups that are due, except those at the paths `avoid`. Calls `start` before each of them, and ends if
  // it returns false. The path is valid until the next begin() or report().
  void read(const std::vector<std::string>& avoid, Buffer& buffer,
            const std::function<bool(const std::string& path)>& start);
  // Adds the cgroups to the tick.
  void report(CollectContext& context);

  const CgroupsLeft& left() const { return left_; }

 private:
  struct File {
    CachedFile kept;
    bool missing = false;
  };
  struct OomCounts {
    std::optional<std::int64_t> kills;
    std::optional<std::int64_t> of_groups;  // kills of whole groups, whose first victim `kills` counts twice
  };
  // Readings of one cgroup. They are dropped when another cgroup takes the name of this one.
  struct Readings {
    std::array<std::optional<File>, kCgroupFiles> files;
    std::optional<CgroupSample> sample;  // nullopt if limits or usage are unreadable
    std::optional<CgroupDetail> detail;
    PeakTracker peak;
    PeakTracker swap_peak;
    Extremes usage_between;  // extremes since the last report
    Extremes swap_between;
    OomCounts oom_read;
    OomCounts oom_reported;
    bool resets = true;     // false after a reset of its peaks was denied
    bool replaced = false;  // the descriptors belonged to an earlier cgroup of this name
  };
  struct Cgroup : Readings {
    std::uint32_t uid = 0;  // user of the process by which the cgroup was found
    std::int64_t detail_boot_ms = 0;
    Cgroup* above = nullptr;  // nearest known ancestor; nullptr for the root
    std::size_t members = 0;  // number of processes in it
    bool used = false;        // has a process in or below it
    bool moved = false;       // a process in or below it changed, started or exited, and it was not read since
    bool moved_since_detail = false;
    bool whole = false;   // read completely in this tick
    bool unread = false;  // due at the previous tick, but not read

    bool missing(CgroupFile file) const {
      const auto& of = files.at(static_cast<std::size_t>(file));
      return !of || of->missing;
    }
    void forget() { static_cast<Readings&>(*this) = Readings(); }
  };
  // What the readings of one tick need and find. If the tick is not reported, the findings are those of the next one
  // too.
  struct Pass {
    Moment begin;
    bool has_swap = true;
    bool refresh = false;
    bool details = false;  // a detail was due, or has changed
    OddLines odd = {};
    std::int64_t in_turn_us = 0;
    Buffer* buffer = nullptr;
  };
  struct Held {
    std::int64_t usage_kib = 0;
    std::int64_t swap_kib = 0;
  };
  static Held held(const CgroupSample& sample) { return {sample.current_kib, sample.swap_kib.value_or(0)}; }
  using Known = std::map<std::string, Cgroup, std::less<>>;

  static void mark_moved(Cgroup* cgroup) {
    for (; cgroup != nullptr && !cgroup->moved; cgroup = cgroup->above) cgroup->moved = true;
  }

  double owed_at(std::int64_t boot_ms) const;
  void choose_whole(bool turns, std::int64_t boot_ms);
  Cgroup* at(std::string_view path, std::uint32_t uid);
  bool has_space(std::uint32_t uid) const;
  void forget_unused();
  std::vector<Known::value_type*> in_order();
  void count(const std::vector<CgroupMember>& members);
  bool update(const std::string& path, Cgroup& cgroup);
  bool update_whole(const std::string& path, Cgroup& cgroup);
  bool detail_due(const Cgroup& cgroup) const;
  void read_limits(const std::string& path, Cgroup& cgroup);
  void read_usage(const std::string& path, Cgroup& cgroup);
  void read_peaks(const std::string& path, Cgroup& cgroup, const Held& before);
  void read_detail(const std::string& path, Cgroup& cgroup);
  void report_oom_kills(Tick& tick);
  template <typename Parse>
  auto value(const std::string& path, Cgroup& cgroup, CgroupFile file, const Parse& parse);

  CgroupFs cgroups_;
  DescriptorBudget& budget_;
  const CgroupLimits limits_;
  CgroupsLeft left_;
  Pass pass_;
  bool is_crowded_ = true;                      // the last tick needed more than half of the time limit
  std::map<std::uint32_t, std::size_t> owned_;  // number of known cgroups per user
  Known known_;                                 // all known cgroups, with all their ancestors
  std::optional<std::int64_t> machine_oom_kills_;
  bool oom_killed_ = false;  // a process was OOM-killed since the previous tick
  // Rotation of complete readings.
  std::optional<std::int64_t> turned_ms_;  // boot clock, time of the previous tick
  double owed_ = 0;                        // number of cgroups that are due
  std::string turn_;                       // path that was read last
  std::int64_t whole_us_ = 0;              // average CPU time of one reading
};

}  // namespace memoir
