#pragma once

// What happens to processes as it happens: births, execs, ends, who was put into another cgroup, whom the OOM killer
// chose, and whom one in user space (systemd-oomd, earlyoom, nohang, oomd) sent SIGTERM or SIGKILL. What a look at the
// moment of a tick cannot see: who lived between two ticks, and who certainly runs another image.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/exit.h"
#include "proc/proc_fs.h"

namespace memoir {

enum class ProcessEventKind : std::uint8_t { forked, execed, exited, oom_victim, signalled, attached };

// Threads make none: a process forks once, and exits with the last of its threads.
struct ProcessEvent {
  ProcessEventKind kind = ProcessEventKind::forked;
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;    // of a birth: who forked
  bool shares_memory = false;     // of a birth: the parent's memory is its own as well, as vfork(2) has it
  std::uint64_t start_ticks = 0;  // as ProcessKey::start_ticks; 0: not known (a victim, before Linux 6.8)
  std::int64_t boot_ns = 0;       // when it happened
  std::int32_t exit_code = 0;     // of an end, as wait(2) has it
  // Of an end: the peak of the resident memory. Since Linux 6.16 of the last image, before of all that it ran. One that
  // was made by vfork(2) and ran no image of its own had the memory of its parent.
  std::optional<std::int64_t> peak_kib;
  std::optional<HeldAtEnd> held;       // of an end, since Linux 6.16; of a signal, when it was sent
  std::uint32_t uid = 0;               // of an end
  std::uint64_t cgroup_id = 0;         // of an end: inode of its folder in the hierarchy of v2; 0: not known,
  std::uint64_t memory_cgroup_id = 0;  // and in that of the memory controller
  std::string comm;                    // any bytes, 15 at most; of a birth the parent's
  std::optional<OomKiller> killer;     // of a signal

  friend bool operator==(const ProcessEvent&, const ProcessEvent&) = default;
};

class ProcessEvents {
 public:
  virtual ~ProcessEvents() = default;

  // What happened since the last time, in order; those of the time before are overwritten. Returns how many were lost
  // in between, because there was no room for them.
  virtual Result<std::uint64_t> take(std::vector<ProcessEvent>& events) = 0;

  // Becomes readable (poll(2)) where so much waits that it should be taken before there is no room for more, and when
  // an OOM killer chose somebody. -1: never.
  virtual int wait_fd() const { return -1; }

  // Why it does not tell of signals; empty: it does.
  virtual std::string no_signals() const { return {}; }
};

// Whether a child of ours is told of as it was. Forks: to be called before there are threads.
Status verify_events(ProcessEvents& events, const ProcFs& proc);

}  // namespace memoir
