#pragma once

// Where ticks come from: /proc (collector.h), or vmmap(1) (vmmap/source.h), which passes over what it has no use for.
// One thread calls it.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/category/categoriser.h"
#include "collect/mappings/plan.h"
#include "collect/redact/redactor.h"
#include "model/tick.h"

namespace memoir {

// What may not be read, found at the first tick: said at the start of a run and kept by the store as an event.
struct Access {
  std::string census = {};  // that counts the processes, known before the first tick: bpf, proc; empty: none
  std::string note;         // a sentence for each that is missing; empty if all is well
};

// A process that grows so fast that a tick should see it at once.
struct FastGrowth {
  std::string name;  // comm, any bytes
  std::int32_t pid = 0;
  std::int64_t before_kib = 0;  // RSS
  std::int64_t now_kib = 0;

  bool operator==(const FastGrowth&) const = default;
};

class TickSource {
 public:
  TickSource() = default;
  virtual ~TickSource() = default;
  TickSource(const TickSource&) = delete;
  TickSource& operator=(const TickSource&) = delete;

  // Takes over what an earlier run in this boot knew, before the first tick.
  virtual void seed(const std::vector<KnownProcess>& known) = 0;

  // New rules (after a reload): all live processes are classified again, and those whose category or command changed
  // are in the next tick's `born`.
  virtual void set_rules(Categoriser categoriser, Redactor redactor) = 0;

  // How large the store may get, which bounds what a user may write into it, after a reload; 0: not.
  virtual void set_store_bytes(std::int64_t bytes) = 0;

  // How often tmpfs mounts are walked, after a reload; 0: not at all.
  virtual void set_tmpfs_interval(std::chrono::milliseconds /*interval*/) {}

  // What reading by need may cost, after a reload: CollectorOptions::read_share_ppm.
  virtual void set_read_share(std::int64_t /*ppm*/) {}

  // From what peak on ends are told one by one, after a reload: CollectorOptions::large_end_kib.
  virtual void set_large_end(std::int64_t /*kib*/) {}

  // Whose mappings are read, after a reload; and whose the next tick reads beside those whose turn it is: bounded, but
  // not by their budget.
  virtual void set_ledgers(const LedgerLimits& /*limits*/) {}
  virtual void ask_ledgers(LedgerAsk /*ask*/) {}

  // All live processes are in the next tick's `born`: for a store that lost what it knew.
  virtual void report_all() = 0;

  // One pass. It fails only if the processes cannot be listed, or what must be there of the machine not be read.
  virtual Result<Tick> collect(bool keyframe) = 0;

  // While it is on, ticks read exactly who moved most, beyond what reading by need may cost.
  virtual void set_closely(bool /*on*/) {}

  // Between two ticks: what the next tick could not see goes into its `extremes`.
  struct Look {
    std::optional<FastGrowth> growth = {};
    bool oom_kill = false;                           // as take_events() returns it
    std::optional<std::int64_t> available_kib = {};  // MemAvailable
    Cost cost{};
  };
  virtual Look look() { return {}; }

  // Becomes readable (poll(2)) where events of processes wait that should be taken now. -1: never.
  virtual int events_fd() const { return -1; }
  // True: an OOM killer chose somebody, so that a tick should see now who holds what.
  virtual bool take_events() { return false; }

  virtual const Access& access() const = 0;

  // What began or ended with the last tick: degraded, restored.
  virtual const std::vector<Event>& events() const = 0;
};

}  // namespace memoir
