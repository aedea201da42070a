#pragma once

// Reads what the recorder wrote. Each call is one short read transaction, so that a reader never holds up the
// recorder's checkpoints: load, then think. One thread at a time. Times are wall milliseconds; ranges are [from_ms,
// to_ms].

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
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

// Everything at one tick, rebuilt from the keyframe before it and the rows since: equal to what the collector saw.
struct Snapshot {
  StoredTick tick;
  StoredRun run;
  MachineSample machine;
  std::vector<ProcessState> processes;     // sorted by key
  std::vector<CategorySample> categories;  // those with a process, sorted by name
};

// A span in which nothing was recorded.
struct Gap {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::string
      reason;  // "not running", "killed", "rebooted", "late", "lost", "before the first tick", "after the last tick"
};

struct Coverage {
  Range asked;
  std::int64_t ticks = 0;
  std::int64_t recorded_ms = 0;
  std::int64_t runs = 0;  // that have a tick in the range
  std::vector<Gap> gaps;
};

// One change of one subject: it holds from at_ms until until_ms (the next change, the end of the subject, a gap or the
// range's end).
struct ProcessStep {
  std::int64_t process_id = 0;
  std::int64_t at_ms = 0;
  std::int64_t until_ms = 0;
  const ProcessSample* sample = nullptr;  // valid during the call
};
struct MachineStep {
  std::int64_t at_ms = 0;
  std::int64_t until_ms = 0;
  const MachineMemory* memory = nullptr;
};
struct CategoryStep {
  std::int64_t at_ms = 0;
  std::int64_t until_ms = 0;
  const CategorySample* sample = nullptr;
};

// What is counted of: by high-water marks and by rollups. The numbers are the store's.
enum class MarkSubject : std::uint8_t { machine = 0, category = 1, process = 2, identity = 3, cgroup = 4 };

// A high-water mark: the value, the tick that had it, and the tick before, between which it was reached.
struct HighWater {
  MarkSubject subject = MarkSubject::machine;
  std::int64_t subject_id = 0;  // row of the category, process, identity or cgroup; 0 for the machine
  std::string name;             // category name; empty otherwise
  std::string metric;  // machine: used, swap, available (a low-water mark); category and cgroup: pss, rss, uss, swap;
                       // process: hwm, pss, uss, swap; identity: all five, hwm being that of one process
  std::optional<std::int64_t> day_ms;  // start of the UTC day; absent: of all time
  std::int64_t value_kib = 0;
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;  // equal to at_ms if there was no tick before
};

struct FileInfo {
  std::string path;
  std::int64_t bytes = 0;  // with -wal
  std::int32_t schema = 0;
  std::int64_t ticks = 0;
  std::int64_t first_tick_ms = 0;
  std::int64_t last_tick_ms = 0;
  std::optional<std::int32_t> recorder_pid;  // who holds the lock now, if we can see it
  bool lock_visible = false;                 // we can: without a recorder_pid nobody records into the file
};

class Reader {
 public:
  static Result<std::unique_ptr<Reader>> open(const std::string& path);

  virtual ~Reader() = default;

  virtual Result<FileInfo> info() = 0;
  virtual Result<std::vector<StoredRun>> runs() = 0;
  virtual Result<std::vector<Event>> events(Range range) = 0;
  virtual Result<std::vector<StoredTick>> ticks(Range range) = 0;
  virtual Result<Coverage> coverage(Range range) = 0;

  // The tick whose wall time is the latest at or before `at_ms`; absent if there is none. Where the wall clock was set
  // back and a time came twice, the tick recorded last.
  virtual Result<std::optional<StoredTick>> tick_at(std::int64_t at_ms) = 0;
  virtual Result<Snapshot> snapshot(std::int64_t tick_id) = 0;

  // One process of it, at a fraction of its cost; absent where the process does not live at that tick.
  virtual Result<std::optional<ProcessState>> process_at(std::int64_t tick_id, std::int64_t process_id) = 0;

  // Processes that lived in the range, whoever still lives included.
  virtual Result<std::vector<StoredProcess>> processes(Range range) = 0;

  // All steps that touch the range, in the order of recording, which is that of at_ms but for a stepped wall clock. The
  // first of each subject is clipped to begin at from_ms. At a keyframe and after a gap a step begins even if nothing
  // changed; one that begins at the very end of what is recorded has no length.
  virtual Status process_steps(Range range, const std::function<void(const ProcessStep&)>& visit) = 0;
  virtual Status machine_steps(Range range, const std::function<void(const MachineStep&)>& visit) = 0;
  virtual Status category_steps(Range range, const std::function<void(const CategoryStep&)>& visit) = 0;

  // Identities that were seen in the range.
  virtual Result<std::vector<StoredIdentity>> identities(Range range) = 0;

  // Marks of whole UTC days that touch the range; without a range those of all time. Up to the last tick, flushed or
  // not.
  virtual Result<std::vector<HighWater>> high_water(std::optional<Range> range) = 0;
};

}  // namespace memoir
