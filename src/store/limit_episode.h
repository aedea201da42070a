#pragma once

// Episodes at a limit: a cgroup reached memory.max or memory.high, or a tmpfs was full. Each is an event, which is
// kept longer than ticks.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memoir {

enum class LimitKind : std::uint8_t { limit, throttled, tmpfs_full };

// The kinds of the events.
inline constexpr std::array<std::string_view, 3> kLimitKinds{"limit", "throttled", "tmpfs-full"};

struct LimitEpisode {
  LimitKind kind = LimitKind::limit;
  std::string subject = {};  // path of the cgroup, or mount point
  std::int64_t run_id = 0;   // the run that recorded it
  std::int64_t from_ms = 0;  // time of the last reading before the episode
  std::int64_t at_ms = 0;    // time of its first reading
  // Time of its last reading; nullopt if the tmpfs is still full, or the run ended.
  std::optional<std::int64_t> to_ms = {};
  std::int64_t times = 0;                      // number of allocations at memory.max or throttlings at memory.high
  std::optional<std::int64_t> waited_us = {};  // time in which some process waited for memory; nullopt: unknown
  std::optional<std::int64_t> used_kib = {};   // usage at the last reading; for a tmpfs, the highest usage
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> cache_kib = {};  // page cache, part of used_kib
};

}  // namespace memoir
