#pragma once

// /proc/PID/cmdline: the arguments, each ended by a NUL. A process may overwrite them with anything: no NULs at all,
// only spaces, 128 KiB of text. The file of a kernel thread or a zombie is empty.

#include <string_view>
#include <vector>

namespace memoir {

// Returns the non-empty arguments in order, as views into the text. They may contain any bytes. Cannot fail.
std::vector<std::string_view> parse_cmdline(std::string_view text);

}  // namespace memoir
