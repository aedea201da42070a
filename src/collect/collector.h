#pragma once

// Makes ticks from /proc: one pass over the machine and every process. Between passes it keeps the process table (which
// detects starts, exits, execs and reused pids) and open descriptors. process_details.h describes which execs are
// detected. Called by one thread; reads that may block on their target run on a worker.

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
  std::size_t max_descriptors = 0;  // maximum number of files kept open between ticks; other files are opened each time
  std::size_t max_command_bytes = 4096;
  std::chrono::milliseconds read_deadline{250};  // limit of one read of a file that may block on its target
  std::int64_t ticks_per_second = 100;           // sysconf(_SC_CLK_TCK)
  std::string cgroup_root = "/sys/fs/cgroup";
  std::string container_root;   // prefix of the paths of container managers' files
  bool container_names = true;  // whether container managers' files are read
  std::chrono::milliseconds tmpfs_interval = std::chrono::minutes(30);  // interval of walks of one mount; 0: no walks
  std::int64_t store_bytes = 0;  // maximum size of the store, which limits the text that a user may add; 0: no limit
  MappingLimits summaries;
  // Minimum peak at which the exit of an unsampled process is reported individually.
  std::int64_t min_exit_peak_kib = 16 * 1024;
  std::string kernel_log;           // path of /dev/kmsg, if it belongs to this machine; empty: not read
  std::int64_t read_share_ppm = 0;  // share of a core for reading smaps_rollup on demand; 0: every process in each tick
};

// Without a census, the status of every process is read. If `census` is an error, access() reports it and the census by
// /proc is used, as when the census fails later. Without events, processes that ran only between two ticks are not
// observed.
std::unique_ptr<TickSource> make_proc_source(
    ProcFs proc, const Clock& clock, Categoriser categoriser, Redactor redactor, const CollectorOptions& options,
    Result<std::unique_ptr<Census>> census = std::unique_ptr<Census>(),
    Result<std::unique_ptr<ProcessEvents>> events = std::unique_ptr<ProcessEvents>());

}  // namespace memoir
