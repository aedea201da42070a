#pragma once

// The writer's state of the previous tick: the last stored values, to find changes. Copied at each tick and adopted
// after the commit, so that a failed write leaves no trace. Vectors are sorted like a Tick's.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sorted.h"
#include "model/tick.h"
#include "store/marks/maker.h"
#include "store/rows/mapping_rows.h"
#include "store/write/changed_rows.h"
#include "store/write/limit_episodes.h"

namespace memoir {

struct LiveProcess {
  ProcessSample last;
  std::int64_t id = 0;
  std::int64_t start_ms = 0;
  MarkMaker::Groups groups;
  bool stored = false;  // whether `last` is valid and has rows in this run

  const ProcessKey& key() const { return last.key; }
};

struct LiveCategory {
  CategorySample last;
  std::int64_t id = 0;
  bool stored = false;

  const std::string& name() const { return last.category; }
};

struct LiveMappings {
  std::int64_t process_id = 0;
  std::shared_ptr<const StoredMappings> stored;
};

struct PlacedEntry {
  std::int64_t tmpfs_id = 0;
  TmpfsEntry entry;

  bool operator==(const PlacedEntry&) const = default;
};

// Memory outside of processes with a valid row.
struct StoredShmem {
  std::vector<StoredSample<SysvSegment>> segments;
  std::vector<StoredSample<TmpfsSample>> mounts;   // without their entries
  std::vector<StoredSample<PlacedEntry>> entries;  // sorted by mount, path and kind
};

struct LiveMeminfoKey {
  std::string name;
  std::int64_t id = 0;
  std::optional<std::int64_t> value;
};

// The machine's counter of OOM kills at its last reading in this boot.
struct OomCount {
  std::optional<std::int64_t> kills = {};
  std::int64_t at_ms = 0;                    // 0: there was no tick
  std::int64_t ahead = 0;                    // kills already reported for cgroups, but not yet in the machine's counter
  std::optional<std::int64_t> in_tick = {};  // tick.oom_kills of the tick that is being written
};

// Number of limit changes reported in the current block of five minutes.
struct LimitChanges {
  std::int64_t block = 0;
  std::int64_t count = 0;
};

// A block of five minutes, and the tick with the sums of its exits.
struct ExitBlock {
  std::int64_t block = 0;
  std::int64_t tick_id = 0;
};

struct WriterState {
  std::vector<LiveProcess> processes;
  std::vector<LiveCategory> categories;
  std::vector<StoredSample<CgroupSample>> cgroups;  // cgroups with a valid row
  std::vector<StoredSample<CgroupDetail>> cgroup_details;
  std::vector<LiveMappings> summaries;       // sorted by process row
  std::shared_ptr<const StoredShmem> shmem;  // nullptr: nothing was stored yet
  std::vector<LiveMeminfoKey> meminfo_keys;
  MachineMemory machine;
  MarkMaker marks;
  OomCount oom_kills;
  ExitBlock exit_block;
  LimitChanges limit_changes;
  LimitEpisodes limit_episodes;
  std::optional<Moment> last_tick;  // last tick of this run
  std::int64_t tick_id = 0;
  std::int64_t keyframe_id = 0;
  std::int64_t merged_boot_ms = 0;  // time of the last merge of the marks
  std::size_t raised_marks = 0;     // number of marks raised since that merge
  bool keyframe_wanted = false;     // retention needs a keyframe, because it can delete only up to one
};

// The tick that is being written.
struct TickContext {
  std::int64_t tick_id = 0;
  bool keyframe = false;
  bool first = false;    // whether it is the first tick of its run
  bool new_day = false;  // whether it is the first tick of a UTC day, or of its run
  std::int64_t boot_ms = 0;
  MarkTime time;
};

}  // namespace memoir
