#pragma once

// /proc/PID/cmdline: the arguments, each ended by a NUL. A process may overwrite them with anything: no NULs at all,
// only spaces, 128 KiB of them. A kernel thread and a zombie have none.

#include <string_view>
#include <vector>

namespace memoir {

// Returns the arguments in order, without empty ones; views into the text, any bytes. Cannot fail.
std::vector<std::string_view> parse_cmdline(std::string_view text);

}  // namespace memoir
