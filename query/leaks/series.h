#pragma once

// Series of the store's subjects, in the format of the leak analysis.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/leak/leak.h"
#include "base/result.h"
#include "store/reader.h"

namespace memoir::query {

// The source of an answer's series: the tier that suits the range. If the analysis' hour is shorter than a real one, no
// tier is fine enough, and the source is the raw rows.
struct LeakSource {
  Range range;
  Tier tier = Tier::hour;
  std::int64_t width_ms = 0;
};
LeakSource leak_source(Range range, const LeakSettings& settings);
LeakSource fine_leak_source(Range range);

// Sorts the buckets by time: they are out of order if the wall clock was set back during the recording.
LeakSeries in_order(LeakSeries series);

// Returns anon + swap of each process in `ids`; nullopt in it means all processes.
Result<std::map<std::int64_t, LeakSeries>> process_series(Reader& reader, const LeakSource& source,
                                                          const std::vector<std::optional<std::int64_t>>& ids = {{}});

// Series of an identity with several simultaneous processes: their memory, and their number.
struct PoolSeries {
  LeakSeries sum;
  LeakSeries count;
};
// `members` are the identity's processes; they select the raw rows.
Result<PoolSeries> pool_series(Reader& reader, const LeakSource& source, std::int64_t identity_id,
                               const std::vector<StoredLife>& members);

// A field of the machine, less others.
struct MachineSum {
  MachineField of = {};
  std::vector<MachineField> less = {};
};
Result<std::vector<LeakSeries>> machine_series(Reader& reader, const LeakSource& source,
                                               const std::vector<MachineSum>& sums);
// Reads the number of zombies from the ticks.
Result<LeakSeries> zombie_series(Reader& reader, const LeakSource& source, const LeakSettings& settings);

}  // namespace memoir::query
