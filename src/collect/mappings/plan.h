#pragma once

// Chooses the processes whose smaps are read: the largest and fastest-growing ones, each at its own interval, within an
// hourly CPU budget. A read walks all page tables of a process and blocks its mmap(). Fast-growing processes keep their
// places for an interval. A process is not read again while none of its memory has changed; reads are spread over the
// ticks. A read may start while any budget is left. If it costs more than was left, the excess must be earned before
// the next read. The cost of a read determines its interval, so that no process uses more than a quarter of the budget.
// Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/process.h"

namespace memoir {

struct MappingLimits {
  std::int64_t interval_ms = 900'000;  // interval of reads of one process; 0: no reads
  std::size_t processes = 20;
  std::size_t labels = 24;  // maximum number of rows per summary
  std::int64_t cpu_us_an_hour = 300'000;

  bool operator==(const MappingLimits&) const = default;
};

enum class MappingRequest : std::uint8_t {
  due,      // only the due processes
  planned,  // all processes in the plan, due or not
  most,     // other processes too, up to kMaxAtOnce reads, after a notable event
};

// A process that could be read. `counters` change with the process's own memory, but not when other processes map or
// release shared pages.
struct MappingCandidate {
  ProcessKey key;
  std::int64_t pss_kib = 0;
  std::size_t counters = 0;  // hash of the counters
  bool denied = false;       // its smaps_rollup was unreadable; readable processes take precedence
};

struct DueReads {
  std::vector<ProcessKey> read;      // processes to read, in this order
  std::vector<ProcessKey> deferred;  // processes that are newly deferred: due, but the budget is exhausted
  std::vector<ProcessKey> dropped;   // processes whose summary expires now, because they left the plan long ago
};

class MappingPlan {
 public:
  static constexpr std::int64_t kKeptMs = 1'800'000;  // how long a summary stays after its process left the plan
  static constexpr std::size_t kMaxAtOnce = 80;

  explicit MappingPlan(const MappingLimits& limits) : limits_(limits) {}

  void set_limits(const MappingLimits& limits) { limits_ = limits; }
  const MappingLimits& limits() const { return limits_; }

  // A read that will be due at `boot_ms` within the budget, by the data of the previous tick: its expected cost, and
  // how long it has been due.
  struct Turn {
    std::int64_t cost_us = 0;
    std::int64_t overdue_ms = 0;
  };
  std::vector<Turn> coming(std::int64_t boot_ms) const;

  // Returns the reads of this tick. `candidates` are all live processes, sorted by key. Selects at most `most` of the
  // due processes, unless `ask` selects others.
  DueReads next(const std::vector<MappingCandidate>& candidates, std::int64_t boot_ms, MappingRequest ask,
                std::size_t most = kMaxAtOnce);

  // Reports the outcome and cost of a read: read() if it succeeded or is not permitted, failed(), or defer() if there
  // was no time.
  void read(const ProcessKey& key, std::int64_t cpu_us);
  void failed(const ProcessKey& key, std::int64_t cpu_us) { tried(key, cpu_us); }
  // Returns whether the process is newly deferred.
  bool defer(const ProcessKey& key, std::int64_t cpu_us);
  // Charges a read for another purpose.
  void charge(std::int64_t cpu_us) { saved_us_ -= static_cast<double>(cpu_us); }
  bool affords_any() const { return saved_us_ > 0; }

 private:
  struct Known {
    MappingCandidate now;
    std::int64_t base_kib = 0;  // PSS when it was read, or first observed
    std::size_t counters = 0;   // hash of the counters when it was read
    std::optional<std::int64_t> tried_ms{};
    std::int64_t cpu_us = 0;      // CPU time of the last attempt
    std::int64_t planned_ms = 0;  // last time in the plan
    std::int64_t since_ms = 0;    // time when it entered the plan
    bool planned = false;
    bool growing = false;  // in the plan because of its growth
    bool deferred = false;
    bool kept = false;  // a summary of it is stored

    std::int64_t growth_kib() const { return now.pss_kib - base_kib; }
    // Size for the ranking. A process in the plan counts as a quarter larger. Otherwise processes of similar size would
    // replace each other repeatedly, and all of them would be read.
    std::int64_t rank_kib() const { return planned && !growing ? now.pss_kib + now.pss_kib / 4 : now.pss_kib; }
  };
  using Order = std::vector<Known*>;

  void meet(const std::vector<MappingCandidate>& candidates);
  void earn(std::int64_t boot_ms);
  Order by_size(bool denied, std::size_t wanted = SIZE_MAX);
  void choose();
  void enter(const Order& largest, const Order& fastest);
  std::int64_t due_ms(const Known& known) const;
  bool is_due(const Known& known, std::int64_t now_ms) const;
  Order due();
  double saved_at(std::int64_t boot_ms) const;
  double turns_at(std::int64_t boot_ms) const;
  std::size_t most_now(std::int64_t elapsed_ms) const;
  void take_due(std::size_t most, DueReads& turns);
  void take_all(const Order& by_size, MappingRequest ask, DueReads& turns);
  void drop(DueReads& turns);
  Known* tried(const ProcessKey& key, std::int64_t cpu_us);

  MappingLimits limits_;
  std::vector<Known> known_;  // sorted by key
  std::int64_t now_ms_ = 0;   // boot clock, time of the last tick; 0: none
  double saved_us_ = 0;
  double turns_ = 0;  // reads allowed now; at most the number of places in the plan per interval
};

}  // namespace memoir
