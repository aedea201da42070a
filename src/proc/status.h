#pragma once

// /proc/PID/status: public facts about a process.
//
//   Name:	cat
//   State:	R (running)
//   Uid:	0	0	0	0
//   VmHWM:	    1724 kB
//
// The kernel escapes newlines in Name (as \n) and backslashes (as \\); unescape_name() undoes that. Kernel threads and
// zombies have no Vm lines.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"
#include "model/process.h"

namespace memoir {

// Fields are nullopt if their line is missing or odd.
struct StatusHead {
  std::optional<std::string_view> name;  // escaped, a view into the text
  std::optional<char> state;
  std::optional<std::int32_t> parent_pid;
  std::optional<std::uint32_t> uid;  // real uid
  std::optional<std::int32_t> threads;
  std::optional<bool> kernel_thread;  // Kthread, since Linux 6.8
};

// Sets all status fields of `memory`. A field without a line, or with an odd one, becomes absent. The other fields of
// `memory` keep their values. An empty text is not_found; a text without any value is malformed. `odd`: see
// key_lines.h.
Result<StatusHead> parse_status(std::string_view text, ProcessMemory& memory, OddLines* odd = nullptr);

// Returns the name as the process set it, with any bytes.
std::string unescape_name(std::string_view name);

}  // namespace memoir
