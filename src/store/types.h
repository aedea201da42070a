#pragma once

// Parameters and results of the store, for its parts and its users. Times are wall milliseconds; ranges are [from_ms,
// to_ms].

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/interval.h"
#include "model/metric.h"
#include "model/subject.h"
#include "model/tick.h"
#include "store/tiers.h"

namespace memoir {

struct Range {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
};

struct StoredRun {
  std::int64_t id = 0;
  BootInfo boot;
  std::int32_t pid = 0;
  std::string version;
  std::int64_t interval_ms = 0;
  std::int64_t started_ms = 0;
  std::optional<std::int64_t> stopped_ms;  // nullopt: the run goes on, or it crashed
  std::string stop_reason;                 // empty while the run goes on; "unclean" if it crashed
  std::string census;                      // census in use: bpf, proc; empty: unknown
  std::optional<std::int64_t> first_tick_ms;
  std::optional<std::int64_t> last_tick_ms;
};

// A tick without its samples.
struct StoredTick {
  std::int64_t id = 0;
  std::int64_t run_id = 0;
  Moment begin;
  Moment end;
  bool keyframe = false;
  std::int64_t skipped = 0;
  Cost total;
  TickCost cost{};
  TickCounts counts;
  std::optional<TickScans> scans;  // nullopt if `reads` is nullopt
  std::optional<TickReads> reads;  // nullopt: every process was read
  std::optional<TickEvents> events;
  std::optional<Cost> storing;  // Tick::storing; nullopt: unknown
};

// Number of zombies at a tick.
struct StoredZombies {
  std::int64_t at_ms = 0;
  std::int64_t zombies = 0;
};

struct StoredProcess {
  std::int64_t id = 0;  // id of the process row
  ProcessInfo info;
  std::string boot_id;
  std::int64_t first_ms = 0;  // wall time of the first tick with it
  std::int64_t last_ms = 0;   // wall time of the last tick with it
  // Wall time of the first tick without it; nullopt while it runs, or if the recording ended before.
  std::optional<std::int64_t> exited_ms;
  std::string exit_kind;         // "", "exited", "execed", "unknown" (it exited while nothing was recorded)
  std::int64_t identity_id = 0;  // id of its identity's row
  std::string unit;              // unit of its identity
  std::string identity;          // normalised command of its identity
};

using VisitProcess = std::function<void(const StoredProcess&)>;

// A StoredProcess without its description, at a tenth of the cost.
struct StoredLife {
  std::int64_t process_id = 0;
  std::int64_t identity_id = 0;
  std::int32_t pid = 0;
  std::int64_t start_ms = 0;
  std::int64_t first_ms = 0;
  std::optional<std::int64_t> exited_ms;
};

// The part of a process that stays the same after a restart (model/identity.h).
struct StoredIdentity {
  std::int64_t id = 0;
  std::string unit;
  std::string exe;
  std::string command;  // normalised
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
};

struct ProcessState {
  StoredProcess process;
  ProcessSample sample;
};

// A process and its memory.
struct RankedProcess {
  StoredProcess process;
  std::int64_t kib = 0;
};

// A process exit, as reported by the kernel.
struct StoredExit {
  std::int64_t process_id = 0;  // id of the process row
  ExitRecord record;
};

// Totals of the kernel's reports over a range.
struct ExitTotals {
  std::int64_t ticks = 0;
  std::int64_t ticks_reported = 0;  // ticks with kernel events
  std::int64_t exits = 0;
  std::int64_t lost = 0;  // TickEvents::lost
};

// A mapping summary, valid at a tick.
struct MappingsAt {
  std::int64_t process_id = 0;  // id of the process row
  ProcessMappings summary;
};

struct HeldAt {
  std::int64_t at_ms = 0;
  std::int64_t kib = 0;
};

// Past usage, as far back as ticks are kept.
struct PastSize {
  HeldAt first;                           // the first known usage
  std::optional<HeldAt> before;           // usage before its last change, with the time of that change
  std::optional<std::int64_t> since_kib;  // usage at the requested time; nullopt: unknown at that time
};

// A System V segment at a tick; its usage includes swap.
struct SegmentAt {
  SysvSegment segment;
  std::int64_t first_ms = 0;  // time of the first tick with it
  PastSize past;
};

// A directory or file at a tick; its usage is the allocated space.
struct TmpfsEntryAt {
  TmpfsEntry entry;
  PastSize past;
};

struct TmpfsAt {
  TmpfsSample sample;                 // without its largest entries
  std::vector<TmpfsEntryAt> entries;  // the largest entries, sorted by path
};

// Segments and mounts without past usage and without entries.
struct ShmemState {
  std::vector<SysvSegment> segments;  // sorted by shmid
  std::vector<TmpfsSample> mounts;    // sorted by mount point
};

// The complete state at one tick, rebuilt from the preceding keyframe and the rows since: equal to the collector's
// tick.
struct Snapshot {
  StoredTick tick;
  StoredRun run;
  MachineSample machine;
  std::vector<ProcessState> processes;     // sorted by key
  std::vector<CategorySample> categories;  // non-empty categories, sorted by name
  std::vector<CgroupSample> cgroups;       // sorted by path
};

// A span in which nothing was recorded.
struct Gap {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::string reason;  // "not running", "killed", "rebooted", "late", "lost", "clock set", "before the first tick",
                       // "after the last tick"
};

struct Coverage {
  Range asked;
  std::int64_t ticks = 0;
  std::int64_t recorded_ms = 0;
  std::int64_t runs = 0;  // number of runs with a tick in the range
  std::vector<Gap> gaps;
};

// A sample and its duration: up to the next change, the end of the subject, a gap or the end of the range.
template <typename Sample>
struct SampleSpan {
  std::int64_t subject_id = 0;  // row of the process, category or cgroup; 0 for the machine
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  const Sample* sample = nullptr;  // valid during the call
};
template <typename Sample>
using VisitSpan = std::function<void(const SampleSpan<Sample>&)>;

// The time covered by a tier, from its oldest row to the last tick. Each tier reaches up to the last tick: buckets
// without rows yet are computed from raw rows.
struct TierSpan {
  Tier tier = Tier::raw;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
};

// Requests values over time of the subjects of one kind, from one tier.
struct HistoryQuery {
  Tier tier = Tier::raw;
  SubjectKind kind = SubjectKind::process;
  std::optional<std::int64_t> subject_id = {};  // nullopt: all of the kind
  Range range;
  std::vector<Metric> metrics;  // metrics of that kind
  bool whole = false;           // buckets that touch the range are complete; otherwise they are clipped to it
  bool zombies = false;         // marks zombies at ticks, which requires reading another table
};

// One metric of one subject. For a group the values are sums over its members, so max is the highest sum at one time.
// anon is RssAnon, or Anonymous if RssAnon is absent; RSS replaces PSS as in the samples.
struct SubjectInterval {
  std::int64_t subject_id = 0;  // 0 for the machine
  Metric metric = Metric::pss;
  // Maximum number of members at one time; for a process 1, or 0 while the query marks it as a zombie.
  std::int64_t processes = 0;
  Interval interval;
  // For values of ticks: how often the wall clock had been set back in the range. Intervals of several passes may
  // overlap.
  std::int32_t pass = 0;
};
using VisitInterval = std::function<void(const SubjectInterval&)>;

// A high-water mark, which was reached between before_ms (the previous tick) and at_ms (its tick).
struct HighWater {
  SubjectKind subject = SubjectKind::machine;
  std::int64_t subject_id = 0;   // row of the category, process, identity or cgroup; 0 for the machine
  std::string name;              // name of the category, identity (unit and command) or cgroup; empty otherwise
  Metric metric = Metric::used;  // one of marked_metrics(subject); hwm of an identity is the highest of one process
  std::optional<std::int64_t> day_ms;  // start of the UTC day; nullopt: of all time
  std::int64_t value_kib = 0;
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;  // equal to at_ms if there was no previous tick
  std::optional<Origin> seen_by = {};
};

// The highest marks of processes, the highest first, and the number of processes with a mark.
struct ProcessMarks {
  std::vector<HighWater> marks;
  std::int64_t processes = 0;
};

// Size of the store after `day` days of recording; these are no calendar days.
struct StoredSize {
  std::int64_t day = 0;
  std::int64_t used_bytes = 0;  // size of the pages in use
};

struct FileInfo {
  std::string path;
  std::int64_t bytes = 0;  // size of the file with its -wal
  std::int32_t schema = 0;
  std::int64_t ticks = 0;          // recorded ticks; the oldest of them may remain in rollups only
  std::int64_t first_tick_ms = 0;  // time of the first recorded tick
  std::int64_t last_tick_ms = 0;
  std::int64_t max_bytes = 0;                // configured maximum size; 0: none, or unknown
  std::int64_t raw_ms = 0;                   // retention of ticks; 0: forever, or unknown
  std::vector<StoredSize> sizes;             // sizes of the last month, in time order
  std::optional<std::int32_t> recorder_pid;  // current owner of the lock, if visible
  bool lock_visible = false;                 // the lock is readable: without a recorder_pid no process records into the
                                             // file
  std::optional<std::int32_t> held_by;       // the process that keeps the recorder from storing
};

// With FULL, SQLite syncs at each commit, so a crash loses no stored tick. With NORMAL, it syncs at checkpoints, so a
// power cut may lose the last commits, but does not damage the file.
enum class Durability { full, normal };

struct RunInfo {
  BootInfo boot;
  std::int32_t pid = 0;
  std::string version;  // version of memoird, with its commit
  std::int64_t interval_ms = 0;
  Moment started;
  Retention retention{};
  std::string census = {};  // census in use, as in StoredRun
};

// Result of one call of maintain().
struct Maintenance {
  bool more = false;          // whether there is more to do now
  std::int64_t write_us = 0;  // duration of its write transaction, without waiting for the lock
};

}  // namespace memoir
