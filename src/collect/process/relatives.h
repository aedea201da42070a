#pragma once

// Marks processes whose PSS may have changed although their counters did not: relatives of a process that forked,
// exec'd or exited, which shared pages with it, or first wrote to such pages. The mark stays until they are read. Also
// marks processes that certainly exec'd, or that moved to another cgroup. Uses starts and exits found by the table and,
// with kernel events, those between two ticks.
//
// The relatives of a process are its parent and its family, which is all processes forked from one image without an
// exec. At the first tick, and without events, children belong to the family of their parent. Children of init do not,
// because most of them never had its memory.

#include <cstdint>
#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "census/events.h"
#include "collect/process/process_entry.h"

namespace memoir {

inline constexpr std::int32_t kInit = 1;

class Relatives {
 public:
  // Takes an event since the previous tick, in order. `entries` are the processes of the previous tick. Keeps nothing
  // about a process that both started and exited since then.
  void note(const ProcessEvent& event, const Entries& entries);

  // Marks processes as `related`, adds the writes of their relatives, marks due cgroups, and sets `has_exec_event` of
  // all entries. `entries` are the processes found by this tick. An exec before `read_until_ms` (boot clock; end of the
  // previous tick's reads) counts only if the previous tick had not found it. `lost`: events are missing, so any
  // process may have changed.
  void see(const Entries& entries, std::int64_t read_until_ms, bool lost);

 private:
  struct Known {
    std::int32_t pid = 0;
    std::int32_t parent_pid = 0;
    std::uint64_t start_ticks = 0;
    std::uint32_t family = 0;
    bool born = false;  // new in the previous tick
  };

  const Known* find(const ProcessEntry& entry) const;
  std::uint32_t family_of(std::int32_t pid, const Entries& entries) const;
  void find_families(const Entries& entries);
  void compare(const Entries& entries);
  void mark_execs(const Entries& entries, std::int64_t read_until_ms);
  static void mark_writes(const Entries& entries);

  struct Exec {
    std::uint64_t start_ticks = 0;
    std::int64_t boot_ns = 0;  // boot clock, time of the last exec
  };

  std::vector<Known> known_;            // processes at the previous tick, sorted by pid
  std::map<std::int32_t, Exec> execs_;  // execs since the previous tick, by pid
  std::set<std::int32_t> moved_;        // pids of changed processes and of their parents, since the previous tick
  std::set<std::int32_t> attached_;     // pids that moved to another cgroup since the previous tick
  // Families of the processes that started or exec'd since the previous tick, by pid.
  std::map<std::int32_t, std::uint32_t> families_;
  std::unordered_set<std::uint32_t> moved_families_;  // families with a change since the previous tick
  std::uint32_t last_family_ = 0;
};

}  // namespace memoir
