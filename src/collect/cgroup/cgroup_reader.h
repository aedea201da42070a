#pragma once

// Reads limits and usage of the cgroups of live processes, and of their ancestors. A cgroup's usage is read at ticks at
// which a process in or below it changed, and reported if it changed by more than a 256th (and 128 KiB). Slow-changing
// values (limits, events, pressure) are read once a minute while something changes, and at once near a limit or after
// an OOM kill. Unread values stay valid. Peaks are read with usage; those between two ticks are among the tick's
// extremes. Files are small and stay open.
//
// Each cgroup is read completely once in five minutes, in rotation: for changes without a process, and for files that
// were missing.

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
  bool moved = false;     // its memory differs from the previous tick
  std::uint32_t uid = 0;  // its user
};

// Limits of the number of known cgroups, and of their reading time per tick. Cgroups of root's processes have their own
// share. Others count in the cgroup above.
struct CgroupLimits {
  std::size_t of_user = 512;
  std::size_t of_users = 2048;
  std::size_t of_root = 4096;
  std::int64_t read_us = 300'000;
};

// Omissions of the last tick.
struct CgroupsLeft {
  std::size_t unknown = 0;  // processes in cgroups beyond the limits
  std::size_t unread = 0;   // due cgroups
};

class CgroupReader {
 public:
  CgroupReader(CgroupFs cgroups, DescriptorBudget& budget, const CgroupLimits& limits = {})
      : cgroups_(std::move(cgroups)), budget_(budget), limits_(limits) {}

  // Adds the expected cost of due full readings.
  void claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const;

  // Adds the cgroups to the tick. Cgroups without processes in or below them are dropped one tick later. `turns`: due
  // cgroups are read completely; the first tick reads all of them.
  void read(const std::vector<CgroupMember>& members, bool refresh, CollectContext& context, bool turns = true);

  const CgroupsLeft& left() const { return left_; }

 private:
  struct File {
    CachedFile kept;
    bool missing = false;
  };
  struct OomCounts {
    std::optional<std::int64_t> kills;
    std::optional<std::int64_t> of_groups;  // killed by memory.oom.group; the first victim is in `kills` twice
  };
  // Readings of one cgroup, until it is replaced by another one of its name.
  struct Readings {
    std::array<std::optional<File>, kCgroupFiles> files;
    std::optional<CgroupSample> sample;  // nullopt without readable limits and usage
    std::optional<CgroupDetail> detail;
    PeakTracker peak;
    PeakTracker swap_peak;
    Extremes usage_between;  // since the previous tick
    Extremes swap_between;
    OomCounts oom_read;
    OomCounts oom_reported;
    bool resets = true;     // its peaks can be reset, as far as known
    bool replaced = false;  // the previous reading was of another cgroup of its name
  };
  struct Cgroup : Readings {
    std::uint32_t uid = 0;  // of the process by which it was found
    std::int64_t detail_boot_ms = 0;
    Cgroup* above = nullptr;  // nullptr for the root
    std::size_t members = 0;  // processes in it
    bool used = false;        // has a process in or below it
    bool moved = false;       // and one of them changed, started or exited
    bool moved_since_detail = false;
    bool whole = false;   // to be read completely in this tick
    bool unread = false;  // it was due at the previous tick

    bool missing(CgroupFile file) const {
      const auto& of = files.at(static_cast<std::size_t>(file));
      return !of || of->missing;
    }
    void forget() { static_cast<Readings&>(*this) = Readings(); }
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
  void report(bool details, CollectContext& context) const;
  bool update(const std::string& path, Cgroup& cgroup, CollectContext& context);
  bool update_whole(const std::string& path, Cgroup& cgroup, CollectContext& context);
  bool detail_due(const Cgroup& cgroup, const CollectContext& context) const;
  void read_limits(const std::string& path, Cgroup& cgroup, CollectContext& context);
  void read_usage(const std::string& path, Cgroup& cgroup, CollectContext& context);
  void read_peaks(const std::string& path, Cgroup& cgroup, const Held& before, CollectContext& context);
  void read_detail(const std::string& path, Cgroup& cgroup, CollectContext& context);
  void report_oom_kills(CollectContext& context);
  template <typename Parse>
  auto value(const std::string& path, Cgroup& cgroup, CgroupFile file, const Parse& parse, CollectContext& context);

  CgroupFs cgroups_;
  DescriptorBudget& budget_;
  const CgroupLimits limits_;
  CgroupsLeft left_;
  bool is_crowded_ = true;                      // the last tick could not read all in half of its time
  std::map<std::uint32_t, std::size_t> owned_;  // number of known cgroups per user
  Known known_;                                 // with all their ancestors
  std::optional<std::int64_t> machine_oom_kills_;
  bool oom_killed_ = false;  // since the previous tick
  // Rotation of full readings.
  std::optional<std::int64_t> turned_ms_;  // previous tick
  double owed_ = 0;                        // number to be read
  std::string turn_;                       // path that was read last
  std::int64_t whole_us_ = 0;              // average duration of one
};

}  // namespace memoir
