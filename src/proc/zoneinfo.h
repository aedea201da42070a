#pragma once

// /proc/zoneinfo: for each zone, among other values, the free pages on the lists of each CPU. No line of meminfo
// includes them: MemFree and MemAvailable only count pages outside of these lists.
//
//   Node 0, zone   Normal
//     pagesets
//       cpu: 0
//                 count:    125

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"

namespace memoir {

// Returns the sum over all zones and CPUs, in KiB. A text without any count, or with an odd one, is malformed, because
// the sum is then unknown. `odd`: see key_lines.h.
Result<std::int64_t> parse_per_cpu_free(std::string_view text, std::int64_t page_kib, OddLines* odd = nullptr);

}  // namespace memoir
