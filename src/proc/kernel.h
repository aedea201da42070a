#pragma once

// The file that identifies the boot: /proc/sys/kernel/random/boot_id.

#include <string>
#include <string_view>

#include "base/result.h"

namespace memoir {

// "ea409d61-8f96-496c-b7b5-138ff770209b\n": a UUID, checked and without its newline.
Result<std::string> parse_boot_id(std::string_view text);

}  // namespace memoir
