#pragma once

// /proc/PID/status: what the kernel tells everybody about a process.
//
//   Name:	cat
//   State:	R (running)
//   Uid:	0	0	0	0
//   VmHWM:	    1724 kB
//
// Name is escaped by the kernel (newline as \n, backslash as \\); it is undone here. Kernel threads and zombies have no
// Vm lines.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/process.h"

namespace memoir {

struct StatusHead {
  std::string_view name;  // as escaped by the kernel, a view into the text; see unescape_name()
  char state = '?';
  std::int32_t parent_pid = 0;
  std::uint32_t uid = 0;  // real
  std::int32_t threads = 0;
  std::optional<bool> kernel_thread;  // Kthread, since Linux 6.8
};

// Sets the status fields of `memory`, all of them: one without a line becomes absent, and so does each on an error. The
// other fields are left alone. A text without Name, State or Uid, or a known line that is torn or cannot be understood:
// malformed. No text: gone.
Result<StatusHead> parse_status(std::string_view text, ProcessMemory& memory);

// The name as the process set it, any bytes.
std::string unescape_name(std::string_view name);

}  // namespace memoir
