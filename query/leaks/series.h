#pragma once

// Series of the store's subjects, as the analysis wants them.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/leak/leak.h"
#include "base/result.h"
#include "store/reader.h"

namespace memoir::query {

// What the series of one answer are made of: the tier that suits the range, or the raw rows where the analysis' hour is
// shorter than a real one, as no tier is fine enough then.
struct LeakSource {
  Range range;
  Tier tier = Tier::hour;
  std::int64_t width_ms = 0;
};
LeakSource leak_source(Range range, const LeakSettings& settings);

// By time, where the wall clock was set back while it was recorded.
LeakSeries in_order(LeakSeries series);

// anon + swap of each process, or of these alone.
Result<std::map<std::int64_t, LeakSeries>> process_series(Reader& reader, const LeakSource& source,
                                                          const std::vector<std::optional<std::int64_t>>& ids = {{}});

// Of an identity with several processes at a time: their sum, and how many they are.
struct PoolSeries {
  LeakSeries sum;
  LeakSeries count;
};
// `members` are its processes, which the raw rows are picked by.
Result<PoolSeries> pool_series(Reader& reader, const LeakSource& source, std::int64_t identity_id,
                               const std::vector<StoredLife>& members);

// Where hours are short, the buckets of five minutes are the finest that there are of the machine.
Tier machine_tier(const LeakSource& source);

// A field of the machine, less others.
struct MachineSum {
  MachineField of = {};
  std::vector<MachineField> less = {};
};
Result<std::vector<LeakSeries>> machine_series(Reader& reader, const LeakSource& source,
                                               const std::vector<MachineSum>& sums);
// From the ticks themselves.
Result<LeakSeries> zombie_series(Reader& reader, const LeakSource& source, const LeakSettings& settings);

}  // namespace memoir::query
