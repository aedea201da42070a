#pragma once

// What the writer remembers of the tick before: the last stored values, to find out what changed. Copied at each tick
// and taken over when its transaction has committed, so that a failed write leaves no trace. Vectors are sorted as a
// Tick's are.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/tick.h"
#include "store/rollup/high_water.h"

namespace memoir {

struct LiveProcess {
  ProcessSample last;  // its source is the stored one, never held
  std::int64_t id = 0;
  std::int64_t start_ms = 0;
  bool stored = false;  // `last` holds: it has rows in this run
  Marks marks;
};

// Its marks wait to be stored, as those of the living do.
struct EndedProcess {
  std::int64_t id = 0;
  Marks marks;
};

struct LiveCategory {
  CategorySample last;
  std::int64_t id = 0;
  bool stored = false;
  Marks marks;
};

struct LiveCgroup {
  CgroupSample last;
  std::int64_t id = 0;
};

struct LiveMeminfoKey {
  std::string name;
  std::int64_t id = 0;
  std::optional<std::int64_t> value;
};

// The machine's counter of OOM kills at the last tick of this boot.
struct OomCount {
  std::optional<std::int64_t> kills;
  std::int64_t at_ms = 0;  // 0: there was no tick
  std::int64_t ahead = 0;  // told already of cgroups, though the machine's counter did not have them yet
};

struct WriterState {
  std::vector<LiveProcess> processes;
  std::vector<EndedProcess> ended;  // since the marks were stored; not sorted
  std::vector<LiveCategory> categories;
  std::vector<LiveCgroup> cgroups;  // those with a row that holds
  std::vector<LiveMeminfoKey> meminfo_keys;
  MachineMemory machine;
  Marks machine_marks;
  OomCount oom_kills;
  std::optional<Moment> last_tick;  // of this run
  std::int64_t tick_id = 0;
  std::int64_t keyframe_id = 0;
  std::int64_t flushed_boot_ms = 0;
  bool keyframe_wanted = false;  // by retention, which deletes up to one
};

// The tick that is being written.
struct TickContext {
  std::int64_t tick_id = 0;
  bool keyframe = false;
  bool first = false;  // of its run
  MarkTime time;
};

}  // namespace memoir
