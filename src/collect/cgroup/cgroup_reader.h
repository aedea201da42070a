#pragma once

// What the cgroups of the live processes, and those above them, may hold and hold. What a cgroup holds is read at the
// ticks at which a process in or below it moved, and told where it moved by more than a 256th (and 128 KiB); what
// seldom moves (limits, events, pressure) once a minute while something does, and at once where usage is near a limit
// or the OOM killer was there. What is not read holds. Peaks are read with usage: what they were between two ticks is
// told among the tick's extremes. Files are small and stay open.
//
// In turn, once in five minutes, each is read whole: for what moves without a process, and for files that were missing.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kept_file.h"
#include "collect/between.h"
#include "collect/pass.h"
#include "collect/pss/claim.h"
#include "model/cgroup.h"
#include "proc/cgroup_fs.h"

namespace memoir {

// A process as its cgroup sees it.
struct CgroupMember {
  std::string_view cgroup;
  bool moved = false;  // what it holds is not what it held at the tick before
};

class CgroupReader {
 public:
  CgroupReader(CgroupFs cgroups, DescriptorBudget& budget) : cgroups_(std::move(cgroups)), budget_(budget) {}

  // What those will cost whose turn it is.
  void claim(std::int64_t boot_ms, std::vector<Claim>& claims) const;

  // Puts them into the tick. `look`: those that no process is in or below any more are forgotten. `turns`: those whose
  // turn it is are read whole; at the first tick all are.
  void read(const std::vector<CgroupMember>& members, bool look, Pass& pass, bool turns = true);

 private:
  struct File {
    KeptFile kept;
    bool missing = false;
  };
  // What was read of one, as long as it is the same: another may come under its name.
  struct Readings {
    std::array<std::optional<File>, kCgroupFiles> files;
    std::optional<CgroupSample> sample;  // absent: it has no limits and no usage that could be read
    std::optional<CgroupDetail> detail;
    PeakBetween peak;
    PeakBetween swap_peak;
    Extremes usage_between;  // since the tick before
    Extremes swap_between;
    std::optional<std::int64_t> oom_kills;  // that are told
    bool resets = true;                     // its peaks can be reset, as far as is known
    bool replaced = false;                  // what was read before was of another one of its name
  };
  struct Cgroup : Readings {
    std::int64_t detail_boot_ms = 0;
    Cgroup* above = nullptr;  // of the root none
    std::size_t members = 0;  // processes in it
    bool used = false;        // a process is in or below it
    bool moved = false;       // and moved, or came, or went
    bool moved_since_detail = false;
    bool whole = false;  // to be read whole in this tick

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
  Cgroup& at(std::string_view path);
  void count(const std::vector<CgroupMember>& members);
  void tell(bool details, Pass& pass) const;
  bool update(const std::string& path, Cgroup& cgroup, Pass& pass);
  bool update_whole(const std::string& path, Cgroup& cgroup, Pass& pass);
  bool detail_due(const Cgroup& cgroup, const Pass& pass) const;
  void read_limits(const std::string& path, Cgroup& cgroup, Pass& pass);
  void read_usage(const std::string& path, Cgroup& cgroup, Pass& pass);
  void read_peaks(const std::string& path, Cgroup& cgroup, const Held& before, Pass& pass);
  void read_detail(const std::string& path, Cgroup& cgroup, Pass& pass);
  void tell_oom_kills(Pass& pass);
  template <typename T>
  std::optional<T> value(const std::string& path, Cgroup& cgroup, CgroupFile file, Result<T> (*parse)(std::string_view),
                         Pass& pass);

  CgroupFs cgroups_;
  DescriptorBudget& budget_;
  Known known_;  // of each those above it, too
  std::optional<std::int64_t> machine_oom_kills_;
  bool oom_killed_ = false;  // since the tick before
  // Of whole readings.
  std::optional<std::int64_t> turned_ms_;  // the tick before
  double owed_ = 0;                        // so many are to be read
  std::string turn_;                       // who was read last
  std::int64_t whole_us_ = 0;              // what one takes, on average
};

}  // namespace memoir
