#pragma once

// The file that identifies the boot: /proc/sys/kernel/random/boot_id.

#include <string>
#include <string_view>

#include "base/result.h"

namespace memoir {

// Parses "ea409d61-8f96-496c-b7b5-138ff770209b" and a newline. Returns the UUID.
Result<std::string> parse_boot_id(std::string_view text);

}  // namespace memoir
