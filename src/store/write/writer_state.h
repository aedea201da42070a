#pragma once

// What the writer remembers of the tick before: the last stored values, to find out what changed. Copied at each tick
// and taken over when its transaction has committed, so that a failed write leaves no trace. Vectors are sorted as a
// Tick's are.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sorted.h"
#include "model/tick.h"
#include "store/marks/high_water.h"
#include "store/rows/ledger_rows.h"
#include "store/write/changed_rows.h"

namespace memoir {

struct LiveProcess {
  ProcessSample last;  // its source is the stored one
  std::int64_t id = 0;
  std::int64_t start_ms = 0;
  bool stored = false;  // `last` holds: it has rows in this run
  Marks marks;

  const ProcessKey& key() const { return last.key; }
};

// Its marks wait to be stored, as those of the living do.
struct EndedMarks {
  std::int64_t id = 0;
  Marks marks;
};

struct LiveCategory {
  CategorySample last;
  std::int64_t id = 0;
  bool stored = false;
  Marks marks;

  const std::string& name() const { return last.category; }
};

// The marks of its own counters. They wait to be stored when it is gone, too.
struct MarkedCgroup {
  std::int64_t id = 0;
  bool live = false;
  Marks marks;
};

struct LiveLedger {
  std::int64_t process_id = 0;
  std::shared_ptr<const StoredLedger> stored;
};

struct PlacedEntry {
  std::int64_t tmpfs_id = 0;
  TmpfsEntry entry;

  bool operator==(const PlacedEntry&) const = default;
};

// What holds memory outside of processes: those with a row that holds.
struct StoredOutside {
  std::vector<StoredSample<SysvSegment>> segments;
  std::vector<StoredSample<TmpfsSample>> mounts;   // without their entries
  std::vector<StoredSample<PlacedEntry>> entries;  // sorted by mount, path and kind
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

// Changes of limits told in the last five minutes.
struct LimitChanges {
  std::int64_t block = 0;
  std::int64_t count = 0;
};

// Where the sums of ends of the last five minutes are added to.
struct EndBlock {
  std::int64_t block = 0;
  std::int64_t tick_id = 0;
};

struct WriterState {
  std::vector<LiveProcess> processes;
  std::vector<EndedMarks> ended;  // since the marks were stored; not sorted
  std::vector<LiveCategory> categories;
  std::vector<StoredSample<CgroupSample>> cgroups;  // those with a row that holds
  std::vector<StoredSample<CgroupDetail>> cgroup_details;
  std::vector<MarkedCgroup> cgroup_marks;        // sorted by id
  std::vector<LiveLedger> ledgers;               // sorted by process row
  std::shared_ptr<const StoredOutside> outside;  // nullptr: none yet
  std::vector<LiveMeminfoKey> meminfo_keys;
  MachineMemory machine;
  Marks machine_marks;
  OomCount oom_kills;
  EndBlock ends;
  LimitChanges limit_changes;
  std::optional<Moment> last_tick;  // of this run
  std::int64_t tick_id = 0;
  std::int64_t keyframe_id = 0;
  std::int64_t flushed_boot_ms = 0;
  bool keyframe_wanted = false;  // by retention, which deletes up to one
};

// Made if there is none yet.
inline MarkedCgroup& marked_cgroup(WriterState& state, std::int64_t id) {
  std::vector<MarkedCgroup>& marked = state.cgroup_marks;
  const auto found = std::ranges::lower_bound(marked, id, {}, &MarkedCgroup::id);
  return found != marked.end() && found->id == id ? *found : *marked.insert(found, {id, false, {}});
}

// The tick that is being written.
struct TickContext {
  std::int64_t tick_id = 0;
  bool keyframe = false;
  bool first = false;  // of its run
  MarkTime time;
};

}  // namespace memoir
