#pragma once

// Ticks from /proc: one pass over the machine, every process. Keeps the process table (births, exits, execs, reused
// pids) and the open descriptors between passes; process_details.h says how an exec is told, and what can be missed.
// One thread calls it; reads that may block on their target run on a worker of its own.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.h"
#include "census/census.h"
#include "collect/tick_source.h"
#include "proc/proc_fs.h"

namespace memoir {

struct CollectorOptions {
  std::size_t max_descriptors = 0;  // kept open between ticks; what is beyond is opened each time
  std::size_t max_command_bytes = 4096;
  std::chrono::milliseconds read_deadline{250};  // for one read of a file that may block on its target
  std::int64_t ticks_per_second = 100;           // sysconf(_SC_CLK_TCK)
  std::string cgroup_root = "/sys/fs/cgroup";
  std::string container_root;   // stands before the paths of container managers' files
  bool container_names = true;  // else those files are not read
  std::chrono::milliseconds tmpfs_interval = std::chrono::minutes(30);  // of the walks of a mount; 0: none
  std::int64_t store_bytes = 0;  // how large the store may get, which bounds what a user may write into it; 0: not
  LedgerLimits ledgers;
  std::int64_t large_end_kib = 16 * 1024;  // from what peak on the end of a process that no tick saw is told by itself
  std::string kernel_log;           // the path of /dev/kmsg, where that tells of this machine; empty: it is not read
  std::int64_t read_share_ppm = 0;  // of a core, for reading smaps_rollup by need; 0: of each process in each tick
};

// Without a census the status of every process is read. Where there is an error instead, access() tells it, and the
// census is made by /proc; so it is when it fails later. Without events, who lived between two ticks is not seen.
std::unique_ptr<TickSource> make_proc_source(
    ProcFs proc, const Clock& clock, Categoriser categoriser, Redactor redactor, const CollectorOptions& options,
    Result<std::unique_ptr<Census>> census = std::unique_ptr<Census>(),
    Result<std::unique_ptr<ProcessEvents>> events = std::unique_ptr<ProcessEvents>());

}  // namespace memoir
