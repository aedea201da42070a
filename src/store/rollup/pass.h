#pragma once

// Computes 5-minute buckets from the raw rows of several ticks: of the machine's metrics, of processes, and of the sums
// over categories, identities and cgroups. Reads only; the same ticks give the same buckets.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "store/replay/coverage.h"
#include "store/replay/tick_cursor.h"
#include "store/rollup/subjects.h"
#include "store/rollup/timeline.h"
#include "store/types.h"

namespace memoir {

using MachinePiece = Piece<1>;

// Ticks of one run without a gap and without a clock step between them.
struct Stretch {
  std::int64_t run_id = 0;
  std::int64_t first_tick_id = 0;
  std::int64_t last_tick_id = 0;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::int64_t to_boot_ms = 0;
  std::string gap;            // reason of the gap before it; empty if there is none
  bool goes_on = false;       // whether it continues the previous stretch
  std::int64_t pause_ms = 0;  // recorder's own time since the previous stretch
};

struct Segment {
  TickSpan ticks;           // the last tick is outside: its values are valid only after the segment
  std::int64_t end_ms = 0;  // wall time at which it ends
  std::vector<std::vector<MachinePiece>> machine;  // one list for each of kRolledMachineMetrics, in time order
  MemoryPieces memory;
  std::vector<Stretch> stretches;
};

struct PassLimits {
  // Memory limit of the subjects. The segment ends early if they need more: `ticks.last` is then before `end`. 0:
  // machine metrics and stretches only.
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  std::optional<SubjectKind> only = std::nullopt;  // only subjects of that kind
};

// Rolls up the ticks from `first` up to, not including, `end`; without an end, up to and including the last tick.
Segment roll_up(SQLite::Database& database, std::int64_t first, std::optional<std::int64_t> end,
                PassLimits limits = {});

}  // namespace memoir
