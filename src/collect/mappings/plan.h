#pragma once

// Whose smaps are read at a tick, which makes their ledgers. It is dear (it walks all page tables of a process, and
// holds up its mmap() meanwhile), so that it is read of few: of those that hold most; and of some that grew most since
// they were read, which keep their places for an interval. Each has its own pace, and is not read again while nothing
// of its memory moved; they are spread over the ticks. A budget of CPU time bounds all of it: it is earned over time
// and saved up for an hour. As long as any of it is left a reading may begin, and what it costs beyond that is earned
// before the next one. What a reading cost says how often there is another: no process takes more than a quarter of the
// budget. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/process.h"

namespace memoir {

struct LedgerLimits {
  std::int64_t interval_ms = 900'000;  // of each process; 0: none is read
  std::size_t processes = 20;
  std::size_t labels = 24;  // of a ledger
  std::int64_t cpu_us_an_hour = 300'000;

  bool operator==(const LedgerLimits&) const = default;
};

enum class LedgerAsk : std::uint8_t {
  due,      // those whose turn it is
  planned,  // all that are in the plan, now
  most,     // the same, and as many others as kMostAtOnce allows: something is going on
};

// A process that could be read. Its counters move with its memory, but not with what others do with shared pages.
struct LedgerCandidate {
  ProcessKey key;
  std::int64_t pss_kib = 0;
  std::size_t counters = 0;  // their hash
  bool denied = false;       // its smaps_rollup was: it does not take the place of one that can be read
};

struct LedgerTurns {
  std::vector<ProcessKey> read;      // in this order
  std::vector<ProcessKey> deferred;  // from now on: it is their turn, but the budget is used up
  std::vector<ProcessKey> dropped;   // from now on: they have been out of the plan for long
};

class LedgerPlan {
 public:
  static constexpr std::int64_t kKeptMs = 1'800'000;  // a ledger, after its process fell out of the plan
  static constexpr std::size_t kMostAtOnce = 80;

  explicit LedgerPlan(const LedgerLimits& limits) : limits_(limits) {}

  void set_limits(const LedgerLimits& limits) { limits_ = limits; }
  const LedgerLimits& limits() const { return limits_; }

  // Of those whose turn it will be at `boot_ms`, as the tick before saw them, as far as the budget goes: what each will
  // cost, and for how long it has been due.
  struct Turn {
    std::int64_t cost_us = 0;
    std::int64_t overdue_ms = 0;
  };
  std::vector<Turn> coming(std::int64_t boot_ms) const;

  // `candidates`: all that live, sorted by key. Of those whose turn it is `most` are read, if it is not `ask` that says
  // which.
  LedgerTurns next(const std::vector<LedgerCandidate>& candidates, std::int64_t boot_ms, LedgerAsk ask,
                   std::size_t most = kMostAtOnce);

  // What became of a turn, each of which is told, with its cost: it was read, or may not be; it was tried in vain; or
  // there was no time for it after all.
  void read(const ProcessKey& key, std::int64_t cpu_us);
  void failed(const ProcessKey& key, std::int64_t cpu_us) { tried(key, cpu_us); }
  // Whether that is new.
  bool put_off(const ProcessKey& key, std::int64_t cpu_us);
  // Of a reading for another purpose.
  void charge(std::int64_t cpu_us) { saved_us_ -= static_cast<double>(cpu_us); }
  bool affords_any() const { return saved_us_ > 0; }

 private:
  struct Known {
    LedgerCandidate now;
    std::int64_t base_kib = 0;  // PSS when it was read, or seen first
    std::size_t counters = 0;   // when it was read
    std::optional<std::int64_t> tried_ms{};
    std::int64_t cpu_us = 0;      // of the last try
    std::int64_t planned_ms = 0;  // when it was in the plan last,
    std::int64_t since_ms = 0;    // and since when it is
    bool planned = false;
    bool growing = false;  // in the plan for its growth
    bool deferred = false;
    bool kept = false;  // it has a ledger

    std::int64_t growth_kib() const { return now.pss_kib - base_kib; }
    // It leaves the plan for one that is larger by a quarter: sizes that change places all the time would make
    // everybody be read.
    std::int64_t rank_kib() const { return planned && !growing ? now.pss_kib + now.pss_kib / 4 : now.pss_kib; }
  };
  using Order = std::vector<Known*>;

  void meet(const std::vector<LedgerCandidate>& candidates);
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
  void take_due(std::size_t most, LedgerTurns& turns);
  void take_all(const Order& by_size, LedgerAsk ask, LedgerTurns& turns);
  void drop(LedgerTurns& turns);
  Known* tried(const ProcessKey& key, std::int64_t cpu_us);

  LedgerLimits limits_;
  std::vector<Known> known_;  // sorted by key
  std::int64_t now_ms_ = 0;   // of the last tick; 0: there was none
  double saved_us_ = 0;
  double turns_ = 0;  // as many as there are processes in the plan in an interval, however often those change
};

}  // namespace memoir
