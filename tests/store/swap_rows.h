#pragma once

// Swap values of ticks, which rollups store in side rows.

#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdint>
#include <fmt/format.h>
#include <string>

#include "model/tick.h"
#include "store/tiers.h"

namespace memoir::test {

// Adds swap to a tick: every fourth process swaps at times, the swap of another is unknown for a while, and the
// smaps_rollup values of another are never known.
inline Tick with_swap(Tick tick) {
  for (ProcessSample& sample : tick.processes) {
    ProcessMemory& memory = sample.memory;
    const std::int64_t time = tick.begin.wall_ms / 2'000'000 + sample.key.pid / 4;
    const std::int64_t swap = time % 3 == 0 ? 4 * (1 + tick.begin.wall_ms / 60'000 % 100) : 0;
    if (sample.key.pid % 4 == 0) {
      for (const ProcessField field : {ProcessField::swap, ProcessField::vm_swap}) memory.set(field, swap);
      memory.set(ProcessField::swap_pss, swap / 2);
    } else if (sample.key.pid % 4 == 1 && time % 3 == 1) {
      for (const ProcessField field : {ProcessField::swap, ProcessField::vm_swap, ProcessField::swap_pss})
        memory.clear(field);
    } else if (sample.key.pid % 4 == 2) {
      memory.clear(ProcessField::swap_pss);
    }
  }
  return tick;
}

// Counts side rows without a rollup row, or with only default values.
inline std::int64_t stray_swap_rows(const std::string& path) {
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  std::int64_t rows = 0;
  for (const TierShape& shape : kRollupTiers) {
    rows += database
                .execAndGet(
                    fmt::format("SELECT COUNT(*) FROM swap_{0} AS w WHERE NOT EXISTS (SELECT 1 FROM rollup_{0} AS r "
                                "WHERE (r.{1}, r.subject, r.subject_id, r.slot, r.buckets) = "
                                "(w.{1}, w.subject, w.subject_id, w.slot, w.buckets) "
                                "AND (r.anon_kib * 0 IS NOT w.swap_kib OR r.uss_kib * 0 IS NOT w.swap_pss_kib "
                                "OR w.swap_low OR w.swap_mean OR w.swap_high OR w.swap_pss_low OR w.swap_pss_mean "
                                "OR w.swap_pss_high OR r.anon_kib * 0 IS NOT w.hugetlb_kib OR w.hugetlb_low "
                                "OR w.hugetlb_mean OR w.hugetlb_high))",
                                shape.name, shape.block))
                .getInt64();
  }
  return rows;
}

}  // namespace memoir::test
