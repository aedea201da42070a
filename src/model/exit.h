#pragma once

// Exits, as kernel events report them (census/events.h), including those of processes that ran only between two ticks.
// Unknown without kernel events.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/process.h"

namespace memoir {

// Memory of a process at its exit, or when it was signalled.
struct MemoryAtExit {
  std::int64_t anon_kib = 0;
  std::int64_t file_kib = 0;
  std::int64_t shmem_kib = 0;
  std::int64_t swap_kib = 0;

  bool operator==(const MemoryAtExit&) const = default;
};

// Processes with a shorter lifetime count as jobs.
inline constexpr std::int64_t kShortLifeMs = 10 * 60 * 1000;

// The exit of a sampled or a large process. The store knows the process already, or the same tick reports it as new.
struct ExitRecord {
  ProcessKey process;
  std::int64_t exited_ms = 0;                 // wall clock
  std::int64_t lived_ms = 0;                  // time since its fork
  std::int32_t exit_code = 0;                 // status in wait(2)'s format
  std::optional<std::int64_t> peak_kib = {};  // highest RSS; nullopt if it only used its parent's memory
  std::optional<MemoryAtExit> held = {};      // nullopt before Linux 6.16

  bool operator==(const ExitRecord&) const = default;
};

// The remaining exits, summed by name, user and cgroup.
struct ExitSum {
  std::string comm;  // empty if the sum covers several names, because there were too many
  std::string user;
  std::string cgroup;
  std::int64_t count = 0;
  std::int64_t first_ms = 0;  // first exit
  std::int64_t last_ms = 0;   // last exit
  std::int64_t lived_ms = 0;  // total lifetime
  std::int64_t peak_kib = 0;  // peak of the largest process; 0 if no peak is known
  std::int64_t peak_ms = 0;   // exit time of the largest

  // Adds other exits, regardless of their names.
  void add(const ExitSum& others) {
    first_ms = count == 0 ? others.first_ms : std::min(first_ms, others.first_ms);
    last_ms = std::max(last_ms, others.last_ms);
    count += others.count;
    lived_ms += others.lived_ms;
    if (others.peak_kib <= peak_kib) return;
    peak_kib = others.peak_kib;
    peak_ms = others.peak_ms;
  }

  bool operator==(const ExitSum&) const = default;
};

// The exhausted resource that invoked the OOM killer ("constraint=" in the kernel log).
enum class OomScope : std::uint8_t {
  machine = 0,  // all memory of the machine
  cgroup = 1,   // the limit of a cgroup
  nodes = 2,    // the memory nodes that a cpuset or a policy allows
};

// Another candidate of the OOM killer.
struct OomTask {
  std::int32_t pid = 0;
  std::string comm;
  std::int64_t rss_kib = 0;
  std::int64_t swap_kib = 0;

  bool operator==(const OomTask&) const = default;
};

// Details of a kill from the kernel log. nullopt if the log lacks them.
struct OomDetail {
  static constexpr std::size_t kMaxTasks = 10;

  OomScope scope = OomScope::machine;
  std::string limit_cgroup = {};               // cgroup that reached its limit; empty: none
  std::string invoked_by = {};                 // name of the process with the failed allocation
  std::optional<std::int64_t> usage_kib = {};  // usage of that cgroup
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> anon_kib = {};  // memory of the victim
  std::optional<std::int64_t> file_kib = {};
  std::optional<std::int64_t> shmem_kib = {};
  std::vector<OomTask> others = {};  // largest other processes by RSS, at most kMaxTasks

  bool operator==(const OomDetail&) const = default;
};

// A user-space OOM killer and the signal that it sent: systemd-oomd, earlyoom, nohang, oomd.
struct OomKiller {
  std::string comm;
  std::int32_t pid = 0;
  std::int32_t signal = 0;  // SIGTERM or SIGKILL, the last of several

  bool operator==(const OomKiller&) const = default;
};

// A victim of the kernel's OOM killer or of a user-space killer, as a kernel event reports it. The kernel's counters
// have only the number of its own kills.
struct OomVictim {
  std::int32_t pid = 0;
  std::string comm;                           // empty if unknown (before Linux 6.8, for an unsampled process)
  std::string cgroup;                         // empty if unknown
  std::int64_t at_ms = 0;                     // wall clock
  std::optional<std::int64_t> held_kib = {};  // RSS at the last tick; for a killer's signal, RSS when it was sent
  std::optional<std::int64_t> peak_kib = {};  // highest RSS; nullopt if it had not exited by the next tick
  std::optional<OomDetail> detail = {};       // nullopt if the log could not be read, or lacks it
  std::optional<OomKiller> killer = {};       // nullopt: killed by the kernel. Only then is there a detail
  std::optional<MemoryAtExit> held = {};      // the victim's memory when a user-space killer's signal was sent

  // Returns false for a process that only received SIGTERM and has not exited: it may continue.
  bool killed() const { return !killer || killer->signal == SIGKILL || peak_kib; }

  bool operator==(const OomVictim&) const = default;
};

}  // namespace memoir
