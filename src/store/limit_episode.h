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
  std::string subject = {};                    // path of the cgroup, mount point
  std::int64_t run_id = 0;                     // the run that recorded it
  std::int64_t from_ms = 0;                    // the reading before it
  std::int64_t at_ms = 0;                      // time of the first reading
  std::optional<std::int64_t> to_ms = {};      // last reading; nullopt: the tmpfs is still full, or the run ended
  std::int64_t times = 0;                      // allocations at memory.max, throttlings at memory.high
  std::optional<std::int64_t> waited_us = {};  // time in which some process waited for memory; nullopt: unknown
  std::optional<std::int64_t> used_kib = {};   // at the last reading; of a tmpfs the highest
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> cache_kib = {};  // page cache, part of used_kib
};

}  // namespace memoir
