#pragma once

// Turns the raw rows of some ticks into buckets of 5 minutes: of the machine's metrics, of processes, and of the sums
// over categories, identities and cgroups. Reads only; the same ticks give the same buckets.

#include <cstdint>
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

// Ticks of one run without a gap and without a step of the clock between them.
struct Stretch {
  std::int64_t run_id = 0;
  std::int64_t first_tick_id = 0;
  std::int64_t last_tick_id = 0;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::int64_t to_boot_ms = 0;
  std::string gap;            // before it; empty if there is none
  bool goes_on = false;       // it continues the stretch before
  std::int64_t pause_ms = 0;  // recorder's own time between that and this
};

struct Segment {
  TickSpan ticks;                                  // last: not in it any more; its values hold after the segment
  std::int64_t end_ms = 0;                         // wall time at which it ends
  std::vector<std::vector<MachinePiece>> machine;  // of each of kRolledMachineMetrics, in order of time
  MemoryPieces memory;
  std::vector<Stretch> stretches;
};

// The ticks from `first` on, before `end`; without one, to the last there is, which is then seen too.
Segment roll_up(SQLite::Database& database, std::int64_t first, std::optional<std::int64_t> end);

}  // namespace memoir
