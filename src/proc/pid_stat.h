#pragma once

// /proc/PID/stat: one line of fields by position (proc(5)).
//
//   1963 (cat) R 1944 1944 1099 0 -1 4194304 98 0 0 0 …
//
// comm stands in parentheses and may hold spaces, newlines and parentheses: the last ')' ends it. Its field 24 (rss) is
// not read: the kernel adds up per-CPU counters loosely there (off by up to 32 MiB per counter on 64 CPUs); RSS comes
// from status.

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "proc/proc_fs.h"

namespace memoir {

struct PidStat {
  std::int32_t pid = 0;
  std::string_view comm;  // any bytes, a view into the text
  char state = '?';
  std::int32_t parent_pid = 0;
  std::uint32_t flags = 0;  // PF_* of include/linux/sched.h
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::int32_t threads = 0;
  std::uint64_t start_ticks = 0;  // clock ticks after boot

  bool kernel_thread() const { return (flags & 0x00200000U) != 0; }  // PF_KTHREAD
};

// No text: gone. Anything but a whole line up to start_ticks: malformed.
Result<PidStat> parse_pid_stat(std::string_view text);
Result<PidStat> read_pid_stat(const ProcFs& proc, std::int32_t pid, Buffer& buffer);

}  // namespace memoir
