#pragma once

// Reads what the recorder wrote. Each call is one short read transaction, so that a reader never holds up the
// recorder's checkpoints: load, then think. One thread at a time. Times are wall milliseconds; ranges are [from_ms,
// to_ms].

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/interval.h"
#include "model/metric.h"
#include "model/subject.h"
#include "model/tick.h"

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
  std::int64_t identity_id = 0;  // 0: a file of schema 1, which knows none
  std::string unit;              // of its identity
  std::string identity;          // its normalised command
};

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

// How fine a history is kept: every tick for days, buckets of 5 minutes for weeks, of an hour for a year, of a UTC day
// for good (config [store]).
enum class Tier : std::uint8_t { raw, five_minutes, hour, day };

inline constexpr std::array kRollupTiers{Tier::five_minutes, Tier::hour, Tier::day};

// "raw", "5min", "hour", "day"
std::string_view to_string(Tier tier);
std::optional<Tier> parse_tier(std::string_view name);
std::int64_t bucket_ms(Tier tier);  // 0 for raw

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
};

// One metric of one subject. Of a group the values are those of the sum of its members, so that max is the highest sum
// that there was at one time. anon is RssAnon, else Anonymous; RSS stands in for PSS where it does in the samples.
struct SubjectInterval {
  std::int64_t subject_id = 0;  // 0 of the machine
  Metric metric = Metric::pss;
  std::int64_t processes = 0;  // most members that lived at one time; of a process 1, and 0 of a zombie, which holds nothing
  Interval interval;
};

// A high-water mark: the value, the tick that had it, and the tick before, between which it was reached.
struct HighWater {
  SubjectKind subject = SubjectKind::machine;
  std::int64_t subject_id = 0;  // row of the category, process, identity or cgroup; 0 for the machine
  std::string name;             // of the category, identity (unit and command) or cgroup; empty otherwise
  Metric metric = Metric::used;  // one of marked_metrics(subject); hwm of an identity is that of one process
  std::optional<std::int64_t> day_ms;  // start of the UTC day; absent: of all time
  std::int64_t value_kib = 0;
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;  // equal to at_ms if there was no tick before
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
  std::int64_t raw_ms = 0;                   // for how long ticks are kept; 0: for ever, or not known
  std::vector<StoredSize> sizes;             // of the last month, in order
  std::optional<std::int32_t> recorder_pid;  // who holds the lock now, if we can see it
  bool lock_visible = false;                 // we can: without a recorder_pid nobody records into the file
  std::optional<std::int32_t> held_by;       // the process that keeps the recorder from storing
};

class Reader {
 public:
  // An answer that takes more than `within` of processor time is refused.
  static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                              std::optional<std::chrono::milliseconds> within = {});

  virtual ~Reader() = default;

  virtual Result<FileInfo> info() = 0;
  virtual Result<std::vector<StoredRun>> runs() = 0;
  virtual Result<std::vector<Event>> events(Range range) = 0;
  virtual Result<std::vector<StoredTick>> ticks(Range range) = 0;
  virtual Result<std::vector<StoredZombies>> zombies(Range range) = 0;  // of the same ticks
  virtual Result<Coverage> coverage(Range range) = 0;

  // The tick whose wall time is the latest at or before `at_ms`; absent if there is none. Where the wall clock was set
  // back and a time came twice, the tick recorded last.
  virtual Result<std::optional<StoredTick>> tick_at(std::int64_t at_ms) = 0;
  virtual Result<Snapshot> snapshot(std::int64_t tick_id) = 0;

  // One process of it, at a fraction of its cost; absent where the process does not live at that tick.
  virtual Result<std::optional<ProcessState>> process_at(std::int64_t tick_id, std::int64_t process_id) = 0;

  // Those that hold most at a tick, by PSS, the largest first: `most` of those that `takes` takes. At a fraction of its
  // cost; none where the tick is not recorded.
  virtual Result<std::vector<Holder>> largest_at(std::int64_t tick_id, std::size_t most,
                                                 const std::function<bool(const StoredProcess&)>& takes) = 0;

  // Processes that lived in the range, whoever still lives included.
  virtual Result<std::vector<StoredProcess>> processes(Range range) = 0;
  virtual Result<std::vector<StoredLife>> lives(Range range) = 0;

  // Those of the rows given, and those with a pid that lived in the range: at a fraction of its cost where a file knows
  // of many processes.
  virtual Result<std::vector<StoredProcess>> processes_by_id(const std::vector<std::int64_t>& ids) = 0;
  // Of each identity of the rows given the process that began last.
  virtual Result<std::vector<StoredProcess>> newest_of(const std::vector<std::int64_t>& identity_ids) = 0;
  virtual Result<std::vector<StoredProcess>> processes_of_pid(Range range, std::int32_t pid) = 0;

  // Everything that the samples of a range hold, in the order of recording, which is that of time but for a stepped wall
  // clock. The first of each subject is clipped to begin at from_ms. At a keyframe and after a gap one begins even if
  // nothing changed; one that begins at the very end of what is recorded has no length.
  virtual Status process_samples(Range range, const std::function<void(const HeldSample<ProcessSample>&)>& visit) = 0;
  virtual Status machine_samples(Range range, const std::function<void(const HeldSample<MachineMemory>&)>& visit) = 0;
  virtual Status category_samples(Range range, const std::function<void(const HeldSample<CategorySample>&)>& visit) = 0;

  // The tiers that hold something, the finest first.
  virtual Result<std::vector<TierSpan>> tiers() = 0;

  // The intervals of all subjects asked for; those of one subject and metric come in the order of time, and those of one
  // row one after the other, in the order of the question's metrics. Where the rows of a tier end, buckets made from the
  // ticks go on; a bucket that both tell of comes as two that adjoin. Ticks tell of processes, categories and the
  // machine. A metric that the tier does not have is an error.
  virtual Status history(const HistoryQuestion& question, const std::function<void(const SubjectInterval&)>& visit) = 0;

  // What the categories, identities (unit and command) or cgroups of the file are called, by their row.
  virtual Result<std::map<std::int64_t, std::string>> group_names(SubjectKind kind) = 0;

  // Identities that were seen in the range; without one all of the file, at a fraction of the cost: last_ms is then
  // that of the last rollup.
  virtual Result<std::vector<StoredIdentity>> identities(std::optional<Range> range) = 0;

  // Marks of whole UTC days that touch the range; without a range those of all time. Up to the last tick, flushed or
  // not.
  virtual Result<std::vector<HighWater>> high_water(std::optional<Range> range) = 0;

  // The same of the machine and of groups alone, of which there are few. Those of identities and cgroups cost more:
  // they are in part those of ticks that are not rolled up yet.
  virtual Result<std::vector<HighWater>> group_marks(std::optional<Range> range,
                                                     const std::set<SubjectKind>& kinds) = 0;

  // Of one metric of processes, one mark of each, at most `most` of them. `reached` leaves those that were reached
  // within it.
  virtual Result<ProcessMarks> process_marks(std::optional<Range> range, std::optional<Range> reached,
                                             Metric metric, std::size_t most) = 0;
};

}  // namespace memoir
