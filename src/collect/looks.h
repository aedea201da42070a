#pragma once

// The looks of the census between two ticks: what they see beyond what both ticks have. Pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "census/census.h"
#include "collect/between.h"
#include "collect/category/totals.h"
#include "collect/process/process_entry.h"
#include "collect/tick_source.h"
#include "model/machine.h"
#include "model/tick.h"

namespace memoir {

class Looks {
 public:
  // A look at `at_ms` (wall clock) saw these. `entries`, `totals` and `machine` are as the tick before left them. What
  // grows so fast that a tick should see it now: of several the one that grew most.
  std::optional<FastGrowth> see(const Entries& entries, const CategoryTotals& totals, const MachineMemory& machine,
                                const std::vector<Glance>& seen, std::optional<std::int64_t> available_kib,
                                std::int64_t at_ms);

  // To be called before entries are deleted: they are referred to until then. The next look lists them again.
  void forget_entries() { watched_.clear(); }

  // When the last look was, where there was one since the tick before.
  std::optional<std::int64_t> looked_ms() const { return looked_ms_; }

  // Of one that ended since.
  static void end(const ProcessEntry& entry, TickExtremes& extremes);
  // The tick is read. Looks begin anew.
  void take(const Entries& entries, const CategoryTotals& totals, Tick& tick);

 private:
  // One that the tick before had. They lie side by side: of who stands still nothing else is touched, and its growth is
  // not judged again.
  struct Watched {
    ProcessEntry* entry;
    std::size_t category;
    std::int64_t tick_rss_kib;            // at the tick before
    Glance last;                          // as it was seen last, by a look or by the tick,
    std::optional<std::int64_t> seen_ms;  // and when, where that was a look
    std::int64_t marked_rss_kib;          // what growth is judged against: what it was a second ago,
    std::int64_t marked_ms = 0;           // or at the look before, where that is longer ago

    void see(const Glance& now, std::int64_t at_ms);
    // How much it grew, if that is fast; its mark moves on.
    std::optional<std::int64_t> fast_growth(const Glance& now, std::int64_t available_kib, std::int64_t at_ms);
  };

  void watch(const Entries& entries);
  std::optional<FastGrowth> see_processes(const std::vector<Glance>& seen, std::int64_t available_kib,
                                          std::int64_t at_ms);

  std::optional<std::int64_t> looked_ms_;  // the last look since the tick before
  SizeBetween available_;
  SizeBetween used_;
  std::vector<Watched> watched_;          // by pid; empty: not listed yet
  std::vector<SizeBetween> categories_;   // by slot
  std::vector<std::int64_t> gained_kib_;  // by them since the tick before; reused
};

// Whether a process that had `before_kib` a second ago, or at the look before if that was longer ago, may soon be what
// ate the memory.
bool rises_fast(std::int64_t before_kib, std::int64_t now_kib, std::int64_t available_kib);

}  // namespace memoir
