#pragma once

// /proc/PID/cmdline: the arguments, each ended by a NUL. A process may write anything over them: no NULs at all, only
// spaces, 128 KiB of them. A kernel thread and a zombie have none.

#include <string_view>
#include <vector>

namespace memoir {

// The arguments in order, empty ones dropped; views into the text, any bytes. Cannot fail.
std::vector<std::string_view> parse_cmdline(std::string_view text);

}  // namespace memoir
