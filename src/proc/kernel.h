#pragma once

// The small files that say which boot this is: /proc/sys/kernel/random/boot_id, /proc/stat (its btime line),
// /proc/uptime.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace memoir {

// "ea409d61-8f96-496c-b7b5-138ff770209b\n": a UUID, checked and without its newline.
Result<std::string> parse_boot_id(std::string_view text);

// The line "btime 1763633500" (seconds) of /proc/stat, in milliseconds.
Result<std::int64_t> parse_btime(std::string_view text);

// The first number of "6296.45 12345.67", in milliseconds.
Result<std::int64_t> parse_uptime(std::string_view text);

}  // namespace memoir
