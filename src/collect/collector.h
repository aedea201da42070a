#pragma once

// Makes ticks: one pass over the machine, every process. Keeps the process table (births, exits, execs, reused pids)
// and the open descriptors between passes; process_reads.h says how an exec is told, and what can be missed. One thread
// calls it; reads that may block on their target run on a worker of its own.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "collect/categories/categoriser.h"
#include "collect/redaction/redactor.h"
#include "model/tick.h"
#include "proc/proc_fs.h"

namespace memoir {

struct CollectorOptions {
  std::size_t max_descriptors = 0;  // kept open between ticks; what is beyond is opened each time
  std::size_t max_command_bytes = 4096;
  std::chrono::milliseconds read_deadline{250};  // for one read of a file that may block on its target
  std::int64_t ticks_per_second = 100;           // sysconf(_SC_CLK_TCK)
  std::string cgroup_root = "/sys/fs/cgroup";
  std::int64_t store_bytes = 0;  // how large the store may get, which bounds what a user may write into it; 0: not
};

// What the collector may not read, found at the first tick: said once at start and kept by the store as an event.
struct Access {
  bool rollup_of_others = true;  // smaps_rollup of other users' processes (CAP_SYS_PTRACE or CAP_PERFMON)
  bool pressure = true;          // /proc/pressure/memory exists
  std::string note;              // a sentence for each that is missing; empty if all is well
};

class Collector {
 public:
  Collector(ProcFs proc, const Clock& clock, Categoriser categoriser, Redactor redactor,
            const CollectorOptions& options);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Takes over what an earlier run in this boot knew, before the first tick.
  void seed(const std::vector<KnownProcess>& known);

  // New rules (after a reload): all live processes are classified again, and those whose category or command changed
  // are in the next tick's `born`.
  void set_rules(Categoriser categoriser, Redactor redactor);

  // As CollectorOptions::store_bytes, after a reload.
  void set_store_bytes(std::int64_t bytes);

  // All live processes are in the next tick's `born`: for a store that lost what it knew.
  void report_all();

  // One pass. It fails only if /proc itself cannot be listed or meminfo not be read.
  Result<Tick> collect(bool keyframe);

  const Access& access() const;

  // What began or ended with the last tick: degraded, restored.
  const std::vector<Event>& events() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Raises RLIMIT_NOFILE to its hard limit and returns how many descriptors the collector may keep: the limit less a
// reserve.
std::size_t raise_descriptor_limit();

}  // namespace memoir
