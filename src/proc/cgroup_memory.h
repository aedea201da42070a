#pragma once

// The files of a cgroup's memory controller (Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/memory.rst): one number
// of bytes and a newline, or memory.stat.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace memoir {

// memory.max, memory.high, memory.swap.max and v1's memory.limit_in_bytes, in KiB. Absent: there is no limit, which v2
// says by "max" and v1 by the largest number of whole pages. No text: gone.
Result<std::optional<std::int64_t>> parse_cgroup_limit(std::string_view text);

// memory.current, memory.swap.current and v1's memory.usage_in_bytes, in KiB.
Result<std::int64_t> parse_cgroup_usage(std::string_view text);

// memory.stat: the page cache on the file lists (active_file + inactive_file), in KiB. Of v1 the totals, which count
// the cgroups below as well, as v2's numbers do.
//
//   active_file 4096
//   inactive_file 12288
Result<std::int64_t> parse_cgroup_file_cache(std::string_view text);

// memory.events and v1's memory.oom_control: how many processes the OOM killer ended. Absent: an older kernel does not
// count them. No text: gone.
//
//   oom_kill 2
Result<std::optional<std::int64_t>> parse_cgroup_oom_kills(std::string_view text);

}  // namespace memoir
