#pragma once

// The source of ticks: /proc (collector.h), or vmmap(1) (vmmap/source.h). Sources ignore functions that do not apply to
// them. Called by one thread.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/category/categoriser.h"
#include "collect/mappings/plan.h"
#include "collect/redact/redactor.h"
#include "model/known_name.h"
#include "model/tick.h"

namespace memoir {

// The permissions and features of the source. They are determined at the first tick, logged at the start of a run and
// stored as an event.
struct Access {
  std::string census = {};  // census in use (bpf or proc), known before the first tick; empty if none
  std::string note;         // a sentence for each missing permission or feature; empty if none is missing
};

// A process that grows fast enough to need an immediate tick.
struct FastGrowth {
  std::string name;  // comm, any bytes
  std::int32_t pid = 0;
  std::int64_t before_kib = 0;  // RSS before the growth
  std::int64_t now_kib = 0;

  bool operator==(const FastGrowth&) const = default;
};

class TickSource {
 public:
  TickSource() = default;
  virtual ~TickSource() = default;
  TickSource(const TickSource&) = delete;
  TickSource& operator=(const TickSource&) = delete;

  // Takes the state of an earlier run in this boot, before the first tick.
  virtual void seed(const std::vector<KnownProcess>& known) = 0;

  // Charges a name of an earlier run to the budget of its user, at the time when it was new (boot clock). So a restart
  // gives no new budget.
  virtual void seed_name(const KnownName& /*name*/, std::int64_t /*at_boot_ms*/) {}

  // Sets new rules after a reload. All live processes are classified again. Processes with a new category or command
  // are in `born` of the next tick.
  virtual void set_rules(Categoriser categoriser, Redactor redactor) = 0;

  // Sets the maximum size of the store, which limits the text that a user may add, after a reload; 0: no limit.
  virtual void set_store_bytes(std::int64_t bytes) = 0;

  // Sets the interval of tmpfs walks, after a reload; 0: no walks.
  virtual void set_tmpfs_interval(std::chrono::milliseconds /*interval*/) {}

  // Sets the CPU budget of reading on demand, after a reload: CollectorOptions::read_share_ppm.
  virtual void set_read_share(std::int64_t /*ppm*/) {}

  // Sets the minimum peak at which exits are reported one by one, after a reload: CollectorOptions::min_exit_peak_kib.
  virtual void set_min_exit_peak(std::int64_t /*kib*/) {}

  // Sets the limits of reading mappings, after a reload.
  virtual void set_summaries(const MappingLimits& /*limits*/) {}
  // Selects what the next tick reads in addition to the due mappings. Such reads are limited, but not by the budget.
  virtual void request_summaries(MappingRequest /*ask*/) {}
  // Makes the next tick read every smaps_rollup, and the mappings of all processes in the plan, regardless of budgets.
  virtual void request_all() {}

  // Makes the next tick list all live processes in `born`, for a store that lost its state.
  virtual void report_all() = 0;

  // Makes one pass. Fails only if the processes cannot be listed, or required machine files cannot be read.
  virtual Result<Tick> collect(bool keyframe) = 0;

  // Switches burst mode. While it is on, ticks read the most changed processes exactly, beyond the CPU budget.
  virtual void set_burst(bool /*on*/) {}

  // Scans between two ticks. Values that the next tick cannot observe are added to its `extremes`.
  struct ScanResult {
    std::optional<FastGrowth> growth = {};
    bool oom_kill = false;                           // result of take_events()
    std::optional<std::int64_t> available_kib = {};  // MemAvailable
    Cost cost{};
  };
  virtual ScanResult scan() { return {}; }

  // Returns a descriptor that becomes readable (poll(2)) when process events are waiting; -1 if there is none.
  virtual int events_fd() const { return -1; }
  // Takes waiting process events. Returns true if an OOM killer chose a victim: the caller should record the memory
  // usage by a tick at once.
  virtual bool take_events() { return false; }

  virtual const Access& access() const = 0;

  // Returns the events of the last tick: `degraded` and `restored` conditions.
  virtual const std::vector<Event>& events() const = 0;
};

}  // namespace memoir
