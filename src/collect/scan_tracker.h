#pragma once

// Tracks values at scans that are beyond those of both adjacent ticks. Pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "census/census.h"
#include "collect/category/totals.h"
#include "collect/interval_extremes.h"
#include "collect/process/process_entry.h"
#include "collect/tick_source.h"
#include "model/machine.h"
#include "model/tick.h"

namespace memoir {

class ScanTracker {
 public:
  // Takes the processes of a scan at `at_ms` (wall clock). `entries`, `totals` and `machine` are the state of the
  // previous tick. Returns a process that grows fast enough to need an immediate tick, the fastest if there are
  // several; otherwise nullopt.
  std::optional<FastGrowth> see(const Entries& entries, const CategoryTotals& totals, const MachineMemory& machine,
                                const std::vector<BriefSample>& seen, std::optional<std::int64_t> available_kib,
                                std::int64_t at_ms);

  // Call it before entries are deleted, because they are referenced. The next scan lists them again.
  void forget_entries() { watched_.clear(); }

  // Returns the time of the last scan since the previous tick; nullopt if there was none.
  std::optional<std::int64_t> scanned_ms() const { return scanned_ms_; }

  // Adds the extremes of a process that exited since the previous tick.
  static void end(const ProcessEntry& entry, TickExtremes& extremes);
  // Adds the extremes to the tick that was just read, and starts the next interval.
  void take(const Entries& entries, const CategoryTotals& totals, Tick& tick);

 private:
  // A process of the previous tick. These are stored contiguously: for an unchanged process a scan needs no other
  // memory, and does not check its growth again.
  struct Watched {
    ProcessEntry* entry;
    std::size_t category;
    std::int64_t tick_rss_kib;            // RSS at the previous tick
    BriefSample last;                     // the last observation, by a scan or a tick
    std::optional<std::int64_t> seen_ms;  // time of `last`, if a scan observed it
    std::int64_t marked_rss_kib;          // reference for its growth: its RSS a second ago, or at the previous scan
    std::int64_t marked_ms = 0;           // time of marked_rss_kib

    void see(const BriefSample& now, std::int64_t at_ms);
    // Returns the growth of the process if it is fast, otherwise nullopt. Updates the reference.
    std::optional<std::int64_t> fast_growth(const BriefSample& now, std::int64_t available_kib, std::int64_t at_ms);
  };

  void watch(const Entries& entries);
  std::optional<FastGrowth> observe_processes(const std::vector<BriefSample>& seen, std::int64_t available_kib,
                                              std::int64_t at_ms);

  std::optional<std::int64_t> scanned_ms_;  // the last scan since the previous tick
  SizeExtremes available_;
  SizeExtremes used_;
  std::vector<Watched> watched_;          // sorted by pid; empty until listed
  std::vector<SizeExtremes> categories_;  // by category slot
  std::vector<std::int64_t> gained_kib_;  // change by category slot since the previous tick; a buffer
};

// Returns whether a process may soon exhaust the memory. `before_kib` is its size a second ago, or at the previous scan
// if that was earlier.
bool rises_fast(std::int64_t before_kib, std::int64_t now_kib, std::int64_t available_kib);

}  // namespace memoir
