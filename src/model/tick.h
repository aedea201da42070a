#pragma once

// One pass of the recorder over the machine: what the collector hands to the store. It holds the whole state, every
// live process; the store's writer finds out what changed.

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
#include "model/process.h"
#include "model/segment.h"
#include "model/tmpfs.h"

namespace memoir {

// Totals over the processes of one category. What a member does not let us know counts as 0, and the member in
// `inexact`.
struct CategorySample {
  std::string category;
  std::int64_t processes = 0;
  std::int64_t inexact = 0;  // members whose source is not exact or held
  std::int64_t rss_kib = 0;
  std::int64_t pss_kib = 0;  // of an approximate member: as its sample
  std::int64_t uss_kib = 0;  // of exact members only
  std::int64_t swap_kib = 0;
  std::int64_t swap_pss_kib = 0;
  std::int64_t shared_swap_kib = 0;  // beside it, of shared mappings

  bool operator==(const CategorySample&) const = default;
};

// What a tick saw.
struct TickCounts {
  std::int64_t seen = 0;  // processes, kernel threads left out
  std::int64_t kernel_threads = 0;
  std::int64_t born = 0;      // first seen in this tick
  std::int64_t exited = 0;    // seen in the tick before, not any more
  std::int64_t execed = 0;    // same pid and start, another program image
  std::int64_t denied = 0;    // smaps_rollup not permitted
  std::int64_t vanished = 0;  // listed, but gone before it was read
  std::int64_t blocked = 0;   // a read was not back in time, or left out for that
  std::int64_t zombies = 0;
  std::int64_t malformed = 0;  // a file could not be understood

  bool operator==(const TickCounts&) const = default;
};

// What a tick cost, by kind of file. CPU is that of the threads that did the work.
enum class CostKind : std::uint8_t {
  list,      // the directory /proc
  status,    // status, stat and statm
  rollup,    // smaps_rollup; smaps of those whose turn it is
  identity,  // cmdline, exe, cwd, cgroup, the user's name: at birth and exec
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

// How the PSS of the processes is known (source.h of ProcessSample), and what came of reading it by need.
struct TickReads {
  std::int64_t exact = 0;
  std::int64_t held = 0;
  std::int64_t estimated = 0;
  std::int64_t put_off = 0;     // was to be read as well, but for the budget
  std::int64_t longest_us = 0;  // of one reading: so long it held up the process at most
  // Estimates that a reading replaced: how many, and by how much they were wrong.
  std::int64_t checked = 0;
  std::int64_t checked_kib = 0;  // what was read
  std::int64_t error_kib = 0;    // the sum of the differences

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

// The looks of the census since the tick before.
struct TickLooks {
  std::int64_t count = 0;
  std::int64_t cpu_us = 0;
  std::int64_t longest_us = 0;  // wall time

  void add(const Cost& cost) {
    ++count;
    cpu_us += cost.cpu_us;
    longest_us = std::max(longest_us, cost.wall_us);
  }

  bool operator==(const TickLooks&) const = default;
};

// What the kernel told of processes since the tick before.
struct TickEvents {
  std::int64_t ends = 0;
  std::int64_t lost = 0;  // events for which there was no room; how many of them were ends is not known

  bool operator==(const TickEvents&) const = default;
};

// Why a process is not there any more.
enum class ExitKind : std::uint8_t {
  exited = 0,  // gone, or another process has its pid
  execed = 1,  // became another program image
};

struct ProcessExit {
  ProcessKey key;
  ExitKind kind = ExitKind::exited;

  bool operator==(const ProcessExit&) const = default;
};

// Processes of a cgroup, or of one below it that is not known any more, that the OOM killer ended.
struct OomKills {
  std::string cgroup;
  std::int64_t count = 0;

  bool operator==(const OomKills&) const = default;
};

struct Tick {
  Moment begin;              // before the first read
  Moment end;                // after the last
  bool keyframe = false;     // every live process gets a row
  std::int64_t skipped = 0;  // slots passed over since the tick before, because it overran
  Cost total;                // of the whole pass
  TickCost cost{};
  TickCounts counts;
  TickReads reads;
  TickLooks looks;
  std::optional<TickEvents> events;  // absent: nobody told
  std::optional<Cost> storing;       // of what was stored since the tick before, and of upkeep; absent: not known
  MachineSample machine;
  std::vector<ProcessInfo> born;            // new or exec'd in this tick, or whose cgroup changed
  std::vector<ProcessExit> exits;           // since the tick before, sorted by key
  std::vector<ProcessEnd> ends;             // as the kernel told of them, since the tick before; sorted by key
  std::vector<EndSum> end_sums;             // of those that are not among them
  std::vector<OomVictim> oom_victims;       // in the order of their choice
  std::vector<ProcessSample> processes;     // all that live (zombies too), sorted by key
  TickExtremes extremes;                    // since the tick before
  std::vector<CategorySample> categories;   // those with a process, sorted by name
  std::vector<CgroupSample> cgroups;        // with a process in or below them, as far as known; sorted by path
  std::vector<CgroupContainer> containers;  // of cgroups of which that is new
  std::vector<OomKills> oom_kills;          // since the tick before, by the counters of the cgroups; sorted by path
  // What is read more seldom. Absent: not in this tick, and what was read last still holds.
  std::optional<std::vector<CgroupDetail>> cgroup_details;  // of all in cgroups, sorted by path
  std::optional<std::vector<SysvSegment>> segments;         // sorted by shmid
  std::optional<std::vector<TmpfsSample>> tmpfs;            // sorted by mount point
  std::vector<ProcessLedger> ledgers;                       // what is new of some, each once; sorted by process
};

// A process that the store knows to have lived at the end of an earlier run in this boot, so that a restarted recorder
// goes on with the same identity and exec count.
struct KnownProcess {
  ProcessKey key;
  std::string comm;
  std::string exe;
};

// Of what the machine's counter of OOM kills rose by since the tick before, those that no cgroup of this tick tells.
// The counters are not read at one moment: a cgroup may know of one that the machine tells at the next tick, which it
// is `ahead` by until then.
std::int64_t untold_kills(std::int64_t rise, const Tick& tick, std::int64_t& ahead);

// Things that happened to the recording, kept in the store's event table.
struct Event {
  Moment at;
  std::string kind;  // one word: unclean, gap, clock-step, reload, lost, degraded, restored, set-aside, oom-kill …
  std::string text;  // a sentence for a person

  bool operator==(const Event&) const = default;
};

}  // namespace memoir
