#pragma once

// How processes ended, as the kernel told at the moment (census/events.h): what no tick could see of those that lived
// between two ticks. Without events there are none of these.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/process.h"

namespace memoir {

// What it held when it ended, or when it was told to.
struct HeldAtEnd {
  std::int64_t anon_kib = 0;
  std::int64_t file_kib = 0;
  std::int64_t shmem_kib = 0;
  std::int64_t swap_kib = 0;

  bool operator==(const HeldAtEnd&) const = default;
};

// Of a process that a tick saw, or that was large. The process is known to the store, or told with the same tick.
struct ProcessEnd {
  ProcessKey process;
  std::int64_t ended_ms = 0;                  // wall clock
  std::int64_t lived_ms = 0;                  // since it was forked
  std::int32_t exit_code = 0;                 // as wait(2) has it
  std::optional<std::int64_t> peak_kib = {};  // of the resident memory; absent: it had its parent's memory alone
  std::optional<HeldAtEnd> held = {};         // since Linux 6.16

  bool operator==(const ProcessEnd&) const = default;
};

// Of the others of one name, user and cgroup.
struct EndSum {
  std::string comm;  // empty: of several, where there were too many of them
  std::string user;
  std::string cgroup;
  std::int64_t count = 0;
  std::int64_t first_ms = 0;  // when the first of them ended,
  std::int64_t last_ms = 0;   // and the last
  std::int64_t lived_ms = 0;  // all together
  std::int64_t peak_kib = 0;  // of the largest; 0: none is known
  std::int64_t peak_ms = 0;   // when that one ended

  // Others, whatever they are called.
  void add(const EndSum& others) {
    first_ms = count == 0 ? others.first_ms : std::min(first_ms, others.first_ms);
    last_ms = std::max(last_ms, others.last_ms);
    count += others.count;
    lived_ms += others.lived_ms;
    if (others.peak_kib <= peak_kib) return;
    peak_kib = others.peak_kib;
    peak_ms = others.peak_ms;
  }

  bool operator==(const EndSum&) const = default;
};

// What ran out, so that the OOM killer came ("constraint=" in the kernel's log).
enum class OomScope : std::uint8_t {
  machine = 0,  // all memory of the machine
  cgroup = 1,   // the limit of a cgroup
  nodes = 2,    // the memory nodes that a cpuset or a policy leaves
};

// One of those that it could have chosen, too.
struct OomTask {
  std::int32_t pid = 0;
  std::string comm;
  std::int64_t rss_kib = 0;
  std::int64_t swap_kib = 0;

  bool operator==(const OomTask&) const = default;
};

// What the kernel's log tells of a kill. Absent: it does not.
struct OomDetail {
  static constexpr std::size_t kMostTasks = 10;

  OomScope scope = OomScope::machine;
  std::string limit_cgroup = {};               // whose limit was reached; empty: none
  std::string invoked_by = {};                 // the name of who asked for memory when there was none
  std::optional<std::int64_t> usage_kib = {};  // of that cgroup
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> anon_kib = {};  // what the victim held
  std::optional<std::int64_t> file_kib = {};
  std::optional<std::int64_t> shmem_kib = {};
  std::vector<OomTask> others = {};  // the largest of the others, by RSS, at most kMostTasks

  bool operator==(const OomDetail&) const = default;
};

// Who kills from user space when memory is short, and what it sent: systemd-oomd, earlyoom, nohang, oomd.
struct OomKiller {
  std::string comm;
  std::int32_t pid = 0;
  std::int32_t signal = 0;  // SIGTERM or SIGKILL, the last of several

  bool operator==(const OomKiller&) const = default;
};

// Whom the OOM killer chose, as the kernel told at that moment; the counters tell how many it ended. Or whom one in
// user space chose, which no counter counts.
struct OomVictim {
  std::int32_t pid = 0;
  std::string comm;                           // empty: it is not known (before Linux 6.8, of one that no tick saw)
  std::string cgroup;                         // the same
  std::int64_t at_ms = 0;                     // wall clock
  std::optional<std::int64_t> held_kib = {};  // its RSS as a tick saw it last; of a signal when it was sent
  std::optional<std::int64_t> peak_kib = {};  // with which it ended; absent: it had not by the tick after
  std::optional<OomDetail> detail = {};       // absent: the log was not to be read, or did not tell it
  std::optional<OomKiller> killer = {};       // absent: the kernel's; else there is no detail
  std::optional<HeldAtEnd> held = {};         // of a signal: when it was sent

  // Whoever is only told to end may go on.
  bool killed() const { return !killer || killer->signal == SIGKILL || peak_kib; }

  bool operator==(const OomVictim&) const = default;
};

}  // namespace memoir
