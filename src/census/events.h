#pragma once

// Process events as they happen: starts, execs, exits, moves to another cgroup, victims of the OOM killer, and SIGTERM
// or SIGKILL sent by a user-space killer (systemd-oomd, earlyoom, nohang, oomd). A scan at a tick misses processes that
// lived between two ticks, and cannot prove an exec.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/exit.h"
#include "proc/proc_fs.h"

namespace memoir {

enum class ProcessEventKind : std::uint8_t { forked, execed, exited, oom_victim, signalled, attached };

// New threads cause no event, and a process exits with the last of its threads. A comment that begins with a kind
// applies to events of that kind only.
struct ProcessEvent {
  ProcessEventKind kind = ProcessEventKind::forked;
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;    // forked: the forking process
  bool shares_memory = false;     // forked: it uses the parent's memory, as after vfork(2)
  std::uint64_t start_ticks = 0;  // as ProcessKey::start_ticks; 0: unknown (a victim, before Linux 6.8)
  std::int64_t boot_ns = 0;       // time of the event
  std::int32_t exit_code = 0;     // exited: in wait(2)'s format
  // exited: peak RSS of the last image since Linux 6.16, and of all images that the process ran before Linux 6.16. A
  // process started by vfork(2) that never exec'd has the peak of its parent's memory.
  std::optional<std::int64_t> peak_kib;
  std::optional<MemoryAtExit> held;    // exited: memory in use, since Linux 6.16; signalled: memory in use at that time
  std::uint32_t uid = 0;               // exited: real uid
  std::uint64_t cgroup_id = 0;         // exited: inode of its cgroup's folder in the v2 hierarchy; 0: unknown
  std::uint64_t memory_cgroup_id = 0;  // exited: inode in the hierarchy of the memory controller; 0: unknown
  std::string comm;                    // any bytes, at most 15; forked: the parent's
  std::optional<OomKiller> killer;     // signalled: the sender and its signal

  friend bool operator==(const ProcessEvent&, const ProcessEvent&) = default;
};

class ProcessEvents {
 public:
  virtual ~ProcessEvents() = default;

  // Replaces `events` by the events since the last call, in order. Returns the number of events lost because the buffer
  // was full.
  virtual Result<std::uint64_t> take(std::vector<ProcessEvent>& events) = 0;

  // Returns a descriptor that becomes readable (poll(2)) when the buffer fills up or an OOM killer chose a victim; -1
  // if there is none.
  virtual int wait_fd() const { return -1; }

  // Returns the reason why signals are not reported; empty if they are.
  virtual std::string no_signals() const { return {}; }
};

// Checks that a child's events are reported correctly. It forks, so call it before starting threads.
Status verify_events(ProcessEvents& events, const ProcFs& proc);

}  // namespace memoir
