#pragma once

// One pass of the recorder over the machine, which the collector passes to the store. It contains the full state with
// every live process; the store's writer finds the changes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/cgroup.h"
#include "model/exit.h"
#include "model/extremes.h"
#include "model/machine.h"
#include "model/mapping.h"
#include "model/odd_lines.h"
#include "model/process.h"
#include "model/recorder_memory.h"
#include "model/segment.h"
#include "model/tmpfs.h"

namespace memoir {

// Totals over the processes of one category. A member's unknown values count as 0, and the member is counted in
// `inexact`.
struct CategorySample {
  std::string category;
  std::int64_t processes = 0;
  std::int64_t inexact = 0;  // members with a source other than exact and held
  std::int64_t rss_kib = 0;
  std::int64_t pss_kib = 0;  // includes the RSS that replaces the PSS of approximate members
  std::int64_t uss_kib = 0;  // exact members only
  std::int64_t swap_kib = 0;
  std::int64_t swap_pss_kib = 0;
  std::int64_t shared_swap_kib = 0;  // swap of shared mappings; `swap_kib` does not include it
  std::int64_t hugetlb_kib = 0;

  bool operator==(const CategorySample&) const = default;
};

// Number of processes by outcome in a tick.
struct TickCounts {
  std::int64_t seen = 0;  // processes, without kernel threads
  std::int64_t kernel_threads = 0;
  std::int64_t execed = 0;    // same pid and start, different program image
  std::int64_t denied = 0;    // smaps_rollup not permitted
  std::int64_t vanished = 0;  // listed, but exited before it was read
  std::int64_t blocked = 0;   // reads that did not finish in time, or were skipped because of that
  std::int64_t zombies = 0;
  std::int64_t malformed = 0;  // lines and files of the kernel that could not be parsed
  // Not stored: the store compares processes with the previously stored tick.
  std::int64_t born = 0;    // first seen in this tick
  std::int64_t exited = 0;  // sampled by the previous tick, not by this one

  bool operator==(const TickCounts&) const = default;
};

// Kinds of files by which the cost of a tick is divided. CPU time includes only the threads that did the work.
enum class CostKind : std::uint8_t {
  list,      // the directory /proc
  status,    // status, stat and statm
  rollup,    // smaps_rollup; smaps of processes that are due
  identity,  // cmdline, exe, cwd, cgroup, the user's name: at start and exec
  machine,   // meminfo, vmstat, pressure, SysV segments, tmpfs, cgroups
  count_,
};

struct Cost {
  std::int64_t cpu_us = 0;
  std::int64_t wall_us = 0;

  bool operator==(const Cost&) const = default;
};

using TickCost = std::array<Cost, static_cast<std::size_t>(CostKind::count_)>;

std::string_view to_string(CostKind kind);

// How the PSS of the processes is known (see ProcessSample::source), and the results of reading it on demand.
struct TickReads {
  std::int64_t exact = 0;
  std::int64_t held = 0;
  std::int64_t estimated = 0;
  std::int64_t deferred = 0;    // due reads deferred by the budget
  std::int64_t longest_us = 0;  // longest time for which one reading blocked its process
  // Estimates replaced by a reading: their number and error.
  std::int64_t checked = 0;
  std::int64_t checked_kib = 0;  // PSS read
  std::int64_t error_kib = 0;    // sum of the absolute differences

  void count(Source source) {
    exact += source == Source::exact ? 1 : 0;
    held += source == Source::held ? 1 : 0;
    estimated += source == Source::estimated ? 1 : 0;
  }
  void take(const Cost& cost) { longest_us = std::max(longest_us, cost.wall_us); }
  void check(std::int64_t thought_kib, std::int64_t read_kib) {
    ++checked;
    checked_kib += read_kib;
    error_kib += std::abs(thought_kib - read_kib);
  }

  bool operator==(const TickReads&) const = default;
};

// Scans of the census since the previous tick.
struct TickScans {
  std::int64_t count = 0;
  std::int64_t cpu_us = 0;
  std::int64_t longest_us = 0;  // longest wall time of a scan

  void add(const Cost& cost) {
    ++count;
    cpu_us += cost.cpu_us;
    longest_us = std::max(longest_us, cost.wall_us);
  }

  bool operator==(const TickScans&) const = default;
};

// Process events from the kernel since the previous tick.
struct TickEvents {
  std::int64_t exits = 0;
  std::int64_t lost = 0;  // events dropped for lack of buffer space; the number of exits among them is unknown

  bool operator==(const TickEvents&) const = default;
};

// Why a process is no longer present.
enum class ExitKind : std::uint8_t {
  exited = 0,  // it exited; its pid may belong to another process
  execed = 1,  // became another program image
};

struct ProcessExit {
  ProcessKey key;
  ExitKind kind = ExitKind::exited;

  bool operator==(const ProcessExit&) const = default;
};

// Processes killed by the OOM killer in a cgroup, or in an already removed descendant.
struct OomKills {
  std::string cgroup;
  std::int64_t count = 0;
  // Processes among them that the kernel counted twice: with memory.oom.group it kills the chosen process again.
  std::int64_t repeated = 0;

  bool operator==(const OomKills&) const = default;
};

struct Tick {
  Moment begin;              // time before the first read
  Moment end;                // time after the last read
  bool keyframe = false;     // every live process gets a row
  std::int64_t skipped = 0;  // slots skipped since the previous tick because it overran
  Cost total;                // cost of the whole pass
  TickCost cost{};
  TickCounts counts;
  OddLines odd_lines;  // counts.malformed is their number
  TickReads reads;
  TickScans scans;
  std::optional<TickEvents> events;  // nullopt without kernel events
  std::optional<Cost> storing;       // cost of storing since the previous tick, with maintenance; nullopt if unknown
  std::optional<RecorderMemory> recorder_memory = {};  // nullopt except once a minute
  MachineSample machine;
  std::vector<ProcessInfo> born;            // new or exec'd in this tick, or with a changed cgroup
  std::vector<ProcessExit> exits;           // processes that exited or exec'd since the previous tick, sorted by key
  std::vector<ExitRecord> exit_records;     // reported by the kernel since the previous tick; sorted by key
  std::vector<ExitSum> exit_sums;           // sums over the exits without a row of their own
  std::vector<OomVictim> oom_victims;       // victims in the order of their selection
  std::vector<ProcessSample> processes;     // all live processes (zombies too), sorted by key
  TickExtremes extremes;                    // extremes since the previous tick
  std::vector<CategorySample> categories;   // non-empty categories, sorted by name
  std::vector<CgroupSample> cgroups;        // cgroups with a process in or below them, as far as known; sorted by path
  std::vector<CgroupContainer> containers;  // cgroups with a newly known container
  std::vector<OomKills> oom_kills;          // kills since the previous tick, as cgroups count them; sorted by path
  // Values that are read less often. nullopt if not read in this tick: the last reading is still valid.
  std::optional<std::vector<CgroupDetail>> cgroup_details;  // details of all `cgroups`, sorted by path
  std::optional<std::vector<SysvSegment>> segments;         // sorted by shmid
  std::optional<std::vector<TmpfsSample>> tmpfs;            // sorted by mount point
  std::vector<ProcessMappings> summaries;                   // changes, one entry per process at most; sorted by process
};

// A process that was running when an earlier recorder of this boot stopped. A restarted recorder continues with the
// same identity and exec count.
struct KnownProcess {
  ProcessKey key;
  std::string comm;
  std::string exe;
};

// Returns the number of OOM kills that the machine counted since the previous tick (`rise`), minus the kills that the
// cgroups of this tick counted. The counters are not read at the same moment, so a cgroup may count a kill that the
// machine counts only at the next tick. `ahead` is the number of these kills; each call updates it.
std::int64_t unattributed_kills(std::int64_t rise, const Tick& tick, std::int64_t& ahead);

// Recorder events, stored in the event table.
struct Event {
  Moment at;
  std::string kind;  // one word: unclean, gap, clock-step, reload, lost, degraded, restored, quarantined, oom-kill …
  std::string text;  // a sentence for humans

  bool operator==(const Event&) const = default;
};

}  // namespace memoir
