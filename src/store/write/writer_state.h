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
#include "store/marks/maker.h"
#include "store/rows/ledger_rows.h"
#include "store/write/changed_rows.h"

namespace memoir {

struct LiveProcess {
  ProcessSample last;  // its source is the stored one
  std::int64_t id = 0;
  std::int64_t start_ms = 0;
  MarkMaker::Groups groups;
  bool stored = false;  // `last` holds: it has rows in this run

  const ProcessKey& key() const { return last.key; }
};

struct LiveCategory {
  CategorySample last;
  std::int64_t id = 0;
  bool stored = false;

  const std::string& name() const { return last.category; }
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
  std::vector<LiveCategory> categories;
  std::vector<StoredSample<CgroupSample>> cgroups;  // those with a row that holds
  std::vector<StoredSample<CgroupDetail>> cgroup_details;
  std::vector<LiveLedger> ledgers;               // sorted by process row
  std::shared_ptr<const StoredOutside> outside;  // nullptr: none yet
  std::vector<LiveMeminfoKey> meminfo_keys;
  MachineMemory machine;
  MarkMaker marks;
  OomCount oom_kills;
  EndBlock ends;
  LimitChanges limit_changes;
  std::optional<Moment> last_tick;  // of this run
  std::int64_t tick_id = 0;
  std::int64_t keyframe_id = 0;
  std::int64_t merged_boot_ms = 0;  // when the marks were merged last
  std::size_t raised_marks = 0;     // since then
  bool keyframe_wanted = false;     // by retention, which deletes up to one
};

// The tick that is being written.
struct TickContext {
  std::int64_t tick_id = 0;
  bool keyframe = false;
  bool first = false;    // of its run
  bool new_day = false;  // UTC; also the first of its run
  MarkTime time;
};

}  // namespace memoir
