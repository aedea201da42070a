#pragma once

// Parses the files of a cgroup's memory controller (Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/memory.rst).
// Most contain one number of bytes and a newline; some have lines of names and values.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"

namespace memoir {

// Parses memory.max, memory.high, memory.swap.max and v1's memory.limit_in_bytes, in KiB. nullopt means no limit, which
// is "max" in v2 and the largest number of whole pages in v1. An empty text is not_found.
Result<std::optional<std::int64_t>> parse_cgroup_limit(std::string_view text);

// Parses memory.current, memory.swap.current and v1's memory.usage_in_bytes, in KiB.
Result<std::int64_t> parse_cgroup_usage(std::string_view text);

// memory.stat, in KiB. v1 values are the totals, which include descendants as all v2 values do.
struct CgroupStat {
  std::optional<std::int64_t> anon;  // "rss" in v1
  std::optional<std::int64_t> file;  // page cache on the file lists: active_file + inactive_file
  std::optional<std::int64_t> shmem;
  std::optional<std::int64_t> kernel;  // v2 only; before Linux 5.18 the sum of its larger parts
  std::optional<std::int64_t> swap;    // v1 only
};

// Parses memory.stat. A text without any value is malformed. `odd`: see key_lines.h.
//
//   active_file 4096
//   inactive_file 12288
Result<CgroupStat> parse_cgroup_stat(std::string_view text, OddLines* odd = nullptr);

// memory.events, memory.events.local, and v1's memory.oom_control, which only counts OOM kills. Counters that an older
// kernel lacks are nullopt.
struct CgroupEvents {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> oom;
  std::optional<std::int64_t> oom_kill;
  std::optional<std::int64_t> oom_group_kill;  // kills of a whole group, since Linux 5.17
};

// Parses the events. An empty text is not_found.
//
//   oom_kill 2
Result<CgroupEvents> parse_cgroup_events(std::string_view text, OddLines* odd = nullptr);

// Parses v1's memory.failcnt: how often usage reached the limit.
Result<std::int64_t> parse_cgroup_count(std::string_view text);

// memory.pressure, in µs; the format is that of /proc/pressure/memory (pressure.h).
struct CgroupPressure {
  std::optional<std::int64_t> some_total_us;
  std::optional<std::int64_t> full_total_us;
};

// Parses memory.pressure. An empty text is not_found.
Result<CgroupPressure> parse_cgroup_pressure(std::string_view text, OddLines* odd = nullptr);

}  // namespace memoir
