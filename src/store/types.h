#pragma once

// What the store takes and answers with, for its rooms and for who uses it. Times are wall milliseconds; ranges are
// [from_ms, to_ms].

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
  std::optional<std::int64_t> ended_ms;  // absent: it is running, or died
  std::string end_reason;                // empty as long as it is not ended; "unclean" if it died
  std::string census;                    // what counted its processes: bpf, proc; empty: it is not told
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
  std::optional<TickLooks> looks;  // as reads
  std::optional<TickReads> reads;  // absent: every process was read
  std::optional<TickEvents> events;
  std::optional<Cost> storing;  // Tick::storing; absent: unknown
};

// How many processes were zombies at a tick.
struct StoredZombies {
  std::int64_t at_ms = 0;
  std::int64_t zombies = 0;
};

struct StoredProcess {
  std::int64_t id = 0;  // of the process row
  ProcessInfo info;
  std::string boot_id;
  std::int64_t first_ms = 0;  // wall time of the tick that saw it first
  std::int64_t last_ms = 0;   // and last
  std::optional<std::int64_t>
      gone_ms;      // of the first tick without it; absent while it lives, or if the recording ended before
  std::string end;  // "", "exited", "execed", "unknown" (it ended while nothing was recorded)
  std::int64_t identity_id = 0;  // its row
  std::string unit;              // of its identity
  std::string identity;          // its normalised command
};

using VisitProcess = std::function<void(const StoredProcess&)>;

// The same without what it is: a tenth of the cost, where there are very many.
struct StoredLife {
  std::int64_t process_id = 0;
  std::int64_t identity_id = 0;
  std::int32_t pid = 0;
  std::int64_t first_ms = 0;
  std::optional<std::int64_t> gone_ms;
};

// What stays the same of a process when it is started again (model/identity.h).
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
  std::int64_t sample_ms = 0;  // tick of the row that holds: the values did not change since
};

// A process and what it held.
struct Holder {
  StoredProcess process;
  std::int64_t kib = 0;
};

// A process that ended, as the kernel told.
struct StoredEnd {
  std::int64_t process_id = 0;  // of the process row
  ProcessEnd end;
};

// What the kernel told over a range.
struct EndTotals {
  std::int64_t ticks = 0;
  std::int64_t ticks_told = 0;  // with which it told
  std::int64_t ends = 0;
  std::int64_t lost = 0;  // TickEvents::lost
};

// A ledger of mappings as it holds at a tick.
struct LedgerAt {
  std::int64_t process_id = 0;  // of the process row
  ProcessLedger ledger;
};

struct HeldAt {
  std::int64_t at_ms = 0;
  std::int64_t kib = 0;
};

// What something held before, as far back as ticks are kept.
struct HeldBefore {
  HeldAt first;                           // the first that is known of it
  std::optional<HeldAt> before;           // before it changed last, and when it did
  std::optional<std::int64_t> since_kib;  // at the time asked for; absent: it was not known then
};

// A System V segment at a tick; it holds what is in memory and what is swapped out.
struct SegmentAt {
  SysvSegment segment;
  std::int64_t first_ms = 0;  // the tick that saw it first
  HeldBefore past;
};

// A directory or file at a tick; it holds what is allocated.
struct TmpfsEntryAt {
  TmpfsEntry entry;
  HeldBefore past;
};

struct TmpfsAt {
  TmpfsSample sample;                 // without the largest,
  std::vector<TmpfsEntryAt> entries;  // which are these; sorted by path
};

// The same without what they held before, and without entries.
struct Outside {
  std::vector<SysvSegment> segments;  // sorted by shmid
  std::vector<TmpfsSample> mounts;    // sorted by mount point
};

// Everything at one tick, rebuilt from the keyframe before it and the rows since: equal to what the collector saw.
struct Snapshot {
  StoredTick tick;
  StoredRun run;
  MachineSample machine;
  std::vector<ProcessState> processes;     // sorted by key
  std::vector<CategorySample> categories;  // those with a process, sorted by name
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
  std::int64_t runs = 0;  // that have a tick in the range
  std::vector<Gap> gaps;
};

// A sample as the recorder took it, and how long it held: until the next change, the end of the subject, a gap or the
// range's end.
template <typename Sample>
struct HeldSample {
  std::int64_t subject_id = 0;  // of the process or the category; 0 of the machine
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  const Sample* sample = nullptr;  // valid during the call
};
template <typename Sample>
using VisitHeld = std::function<void(const HeldSample<Sample>&)>;

// What a tier can answer for: from its oldest row to the last tick. Each tier reaches up to the last tick: what its
// rows do not hold yet is made from the raw ones.
struct TierSpan {
  Tier tier = Tier::raw;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
};

// Values over time: of a kind of subject, from the tier that says how fine.
struct HistoryQuestion {
  Tier tier = Tier::raw;
  SubjectKind kind = SubjectKind::process;
  std::optional<std::int64_t> subject_id = {};  // absent: all of the kind
  Range range;
  std::vector<Metric> metrics;  // that the kind has
  bool whole = false;           // buckets that touch the range as they are; else they are cut to it
  bool zombies = false;         // tells at ticks which processes are zombies, which is a table more to read
};

// One metric of one subject. Of a group the values are those of the sum of its members, so that max is the highest sum
// that there was at one time. anon is RssAnon, else Anonymous; RSS stands in for PSS where it does in the samples.
struct SubjectInterval {
  std::int64_t subject_id = 0;  // 0 of the machine
  Metric metric = Metric::pss;
  std::int64_t processes = 0;  // most members that lived at one time; of a process 1, and 0 of a zombie if asked
  Interval interval;
};
using VisitInterval = std::function<void(const SubjectInterval&)>;

// A high-water mark: the value, the tick that had it, and the tick before, between which it was reached.
struct HighWater {
  SubjectKind subject = SubjectKind::machine;
  std::int64_t subject_id = 0;         // row of the category, process, identity or cgroup; 0 for the machine
  std::string name;                    // of the category, identity (unit and command) or cgroup; empty otherwise
  Metric metric = Metric::used;        // one of marked_metrics(subject); hwm of an identity is that of one process
  std::optional<std::int64_t> day_ms;  // start of the UTC day; absent: of all time
  std::int64_t value_kib = 0;
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;  // equal to at_ms if there was no tick before
  std::optional<SeenBy> seen_by = {};
};

// The highest marks of processes, the highest first, and how many processes have one.
struct ProcessMarks {
  std::vector<HighWater> marks;
  std::int64_t processes = 0;
};

// How large the store was on a day of recording, counted by the recorder's own clock.
struct StoredSize {
  std::int64_t day = 0;
  std::int64_t used_bytes = 0;  // of the pages in use
};

struct FileInfo {
  std::string path;
  std::int64_t bytes = 0;  // with -wal
  std::int32_t schema = 0;
  std::int64_t ticks = 0;          // that were recorded; the oldest of them may live on in rollups only
  std::int64_t first_tick_ms = 0;  // of those
  std::int64_t last_tick_ms = 0;
  std::int64_t max_bytes = 0;                // what the recorder keeps it under; 0: nothing, or not known
  std::int64_t raw_ms = 0;                   // for how long ticks are kept; 0: forever, or not known
  std::vector<StoredSize> sizes;             // of the last month, in order
  std::optional<std::int32_t> recorder_pid;  // who holds the lock now, if we can see it
  bool lock_visible = false;                 // we can: without a recorder_pid nobody records into the file
  std::optional<std::int32_t> held_by;       // the process that keeps the recorder from storing
};

// FULL syncs at each commit: the tick before a crash is there. NORMAL syncs at checkpoints: a power cut may take the
// last commits, never the consistency.
enum class Durability { full, normal };

struct RunInfo {
  BootInfo boot;
  std::int32_t pid = 0;
  std::string version;  // of memoird, with its commit
  std::int64_t interval_ms = 0;
  Moment started;
  Retention retention{};
  std::string census = {};  // as StoredRun's
};

// What one call of maintain() did.
struct Maintenance {
  bool more = false;          // there is more to do now
  std::int64_t write_us = 0;  // how long its write transaction took, the wait for the lock left out
};

}  // namespace memoir
