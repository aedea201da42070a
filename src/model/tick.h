#pragma once

// One pass of the recorder over the machine: what the collector hands to the store. It holds the whole state, every
// live process; the store's writer finds out what changed.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/cgroup.h"
#include "model/machine.h"
#include "model/process.h"

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
  rollup,    // smaps_rollup
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
  MachineSample machine;
  std::vector<ProcessInfo> born;           // new or exec'd in this tick, or whose cgroup changed
  std::vector<ProcessExit> exits;          // since the tick before, sorted by key
  std::vector<ProcessSample> processes;    // all that live (zombies too), sorted by key
  std::vector<CategorySample> categories;  // those with a process, sorted by name
  std::vector<CgroupSample> cgroups;       // with a process in or below them, as far as known; sorted by path
  std::vector<OomKills> oom_kills;         // since the tick before, by the counters of the cgroups; sorted by path
};

// A process that the store knows to have lived at the end of an earlier run in this boot, so that a restarted recorder
// goes on with the same identity and exec count.
struct KnownProcess {
  ProcessKey key;
  std::string comm;
  std::string exe;
};

// Things that happened to the recording, kept in the store's event table.
struct Event {
  Moment at;
  std::string kind;  // one word: unclean, gap, clock-step, reload, lost, degraded, restored, set-aside, oom-kill …
  std::string text;  // a sentence for a person

  bool operator==(const Event&) const = default;
};

}  // namespace memoir
