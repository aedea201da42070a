#pragma once

// Whose PSS may have moved though none of its own counters did, until it is read again: that of the relatives of who
// was born, ran another image or ended, since they shared pages with it, or wrote to those for the first time. And who
// certainly ran another image, or was put into another cgroup. Births and ends are those that the table saw, and, where
// the kernel tells events, those between two ticks as well.
//
// Relatives are who forked, and its other children. The children of init are no relatives of each other: most of them
// were never of one memory.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "census/events.h"
#include "collect/process/process_entry.h"

namespace memoir {

inline constexpr std::int32_t kInit = 1;

class Kin {
 public:
  // What happened since the tick before, in its order. Of who began and ended since nothing is kept.
  void note(const ProcessEvent& event);

  // Marks who is `related` to that, what their kin wrote, and whose cgroup is due, and sets `exec_told` of all entries,
  // which are sorted by pid and as the table found them in this tick. An exec that happened up to `read_until_ms` (boot
  // clock; when the tick before had read) is told only where that tick had not found it itself. `lost`: events are
  // missing, so that everybody may have moved.
  void see(const Entries& entries, std::int64_t read_until_ms, bool lost);

 private:
  struct Known {
    std::int32_t pid = 0;
    std::int32_t parent_pid = 0;
    std::uint64_t start_ticks = 0;
    bool born = false;  // in that tick
  };

  const Known* find(const ProcessEntry& entry) const;
  void compare(const Entries& entries);
  void tell_execs(const Entries& entries, std::int64_t read_until_ms);
  static void tell_writes(const Entries& entries);

  struct Exec {
    std::uint64_t start_ticks = 0;
    std::int64_t boot_ns = 0;  // of the last
  };

  std::vector<Known> known_;                  // at the tick before, sorted by pid
  std::map<std::int32_t, Exec> execs_;        // since then, by pid
  std::set<std::int32_t> moved_;              // since then
  std::set<std::int32_t> children_moved_of_;  // all of theirs
  std::set<std::int32_t> attached_;           // to another cgroup
};

}  // namespace memoir
