#pragma once

// /proc/PID/stat: one line of fields by position (proc(5)).
//
//   1963 (cat) R 1944 1944 1099 0 -1 4194304 98 0 0 0 …
//
// comm is in parentheses and may contain spaces, newlines and parentheses: the last ')' ends it. Field 24 (rss) is not
// read, because the kernel adds up per-CPU counters inexactly there (off by up to 32 MiB per counter on 64 CPUs). RSS
// is read from status instead.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"
#include "proc/proc_fs.h"

namespace memoir {

// Fields are nullopt if they are odd.
struct PidStat {
  std::string_view comm;  // any bytes, a view into the text
  std::optional<char> state;
  std::optional<std::int32_t> parent_pid;
  std::uint32_t flags = 0;  // PF_* of include/linux/sched.h; 0 if they are odd
  std::optional<std::int32_t> threads;
  std::uint64_t start_ticks = 0;  // clock ticks after boot

  bool kernel_thread() const { return (flags & 0x00200000U) != 0; }  // PF_KTHREAD
};

// Parses the line. An empty text is not_found. A text without a comm and a complete start_ticks, which identify the
// process, is malformed. `odd`: see key_lines.h.
Result<PidStat> parse_pid_stat(std::string_view text, OddLines* odd = nullptr);
Result<PidStat> read_pid_stat(const ProcFs& proc, std::int32_t pid, Buffer& buffer, OddLines* odd = nullptr);

}  // namespace memoir
