#pragma once

// Chooses whose smaps to read: the largest and fastest-growing processes, each at its own interval, within an hourly
// CPU budget. A read walks all page tables of a process and blocks its mmap(). Fast-growing processes keep their places
// for an interval. A process is not read again while none of its memory changed; readings are spread over the ticks. A
// reading may start while any budget is left; its excess cost is earned before the next one. The cost of a reading
// determines the interval: no process takes more than a quarter of the budget. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/process.h"

namespace memoir {

struct MappingLimits {
  std::int64_t interval_ms = 900'000;  // of each process; 0: none is read
  std::size_t processes = 20;
  std::size_t labels = 24;  // per summary
  std::int64_t cpu_us_an_hour = 300'000;

  bool operator==(const MappingLimits&) const = default;
};

enum class MappingRequest : std::uint8_t {
  due,      // due processes
  planned,  // all processes in the plan, now
  most,     // the same, and others up to kMaxAtOnce: after a notable event
};

// A process that could be read. Its counters change with its own memory, but not when others map or release shared
// pages.
struct MappingCandidate {
  ProcessKey key;
  std::int64_t pss_kib = 0;
  std::size_t counters = 0;  // hash of them
  bool denied = false;       // its smaps_rollup was unreadable: readable processes take precedence
};

struct DueReads {
  std::vector<ProcessKey> read;      // in this order
  std::vector<ProcessKey> deferred;  // newly: due, but the budget is exhausted
  std::vector<ProcessKey> dropped;   // newly: out of the plan for a long time
};

class MappingPlan {
 public:
  static constexpr std::int64_t kKeptMs = 1'800'000;  // a summary, after its process left the plan
  static constexpr std::size_t kMaxAtOnce = 80;

  explicit MappingPlan(const MappingLimits& limits) : limits_(limits) {}

  void set_limits(const MappingLimits& limits) { limits_ = limits; }
  const MappingLimits& limits() const { return limits_; }

  // Due readings at `boot_ms`, from the previous tick's data, within the budget: the expected cost of each, and the
  // time since it is due.
  struct Turn {
    std::int64_t cost_us = 0;
    std::int64_t overdue_ms = 0;
  };
  std::vector<Turn> coming(std::int64_t boot_ms) const;

  // `candidates`: all live processes, sorted by key. Reads `most` of the due processes, unless `ask` selects others.
  DueReads next(const std::vector<MappingCandidate>& candidates, std::int64_t boot_ms, MappingRequest ask,
                std::size_t most = kMaxAtOnce);

  // Report the outcome and cost of a due read: it was read, or is unreadable; it failed; or there was no time for it.
  void read(const ProcessKey& key, std::int64_t cpu_us);
  void failed(const ProcessKey& key, std::int64_t cpu_us) { tried(key, cpu_us); }
  // Returns whether that is new.
  bool defer(const ProcessKey& key, std::int64_t cpu_us);
  // Charges a reading for another purpose.
  void charge(std::int64_t cpu_us) { saved_us_ -= static_cast<double>(cpu_us); }
  bool affords_any() const { return saved_us_ > 0; }

 private:
  struct Known {
    MappingCandidate now;
    std::int64_t base_kib = 0;  // PSS when it was read, or first observed
    std::size_t counters = 0;   // when it was read
    std::optional<std::int64_t> tried_ms{};
    std::int64_t cpu_us = 0;      // of the last attempt
    std::int64_t planned_ms = 0;  // last time in the plan
    std::int64_t since_ms = 0;    // in the plan since
    bool planned = false;
    bool growing = false;  // in the plan because of its growth
    bool deferred = false;
    bool kept = false;  // it has a summary

    std::int64_t growth_kib() const { return now.pss_kib - base_kib; }
    // It leaves the plan only for a process that is larger by a quarter: otherwise alternating ranks would cause reads
    // of all of them.
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
  std::int64_t now_ms_ = 0;   // of the last tick; 0: none
  double saved_us_ = 0;
  double turns_ = 0;  // at most the number of processes in the plan per interval, however often it changes
};

}  // namespace memoir
