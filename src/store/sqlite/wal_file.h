#pragma once

// The -wal as a file (https://sqlite.org/fileformat.html, 4). SQLite reads it up to the first frame with an invalid
// checksum, which is how it detects frames that were partly written at a power cut. Frames that were damaged later look
// the same to SQLite, which then silently drops all commits after them. This module distinguishes the two cases.

#include <cstdint>
#include <string>
#include <string_view>

namespace memoir {

inline constexpr std::int64_t kWalHeadBytes = 32;
inline constexpr std::int64_t kWalFrameHeadBytes = 24;

// Returns the damage; empty if there is none. An invalid frame is damage if two complete commits follow it. One commit
// may belong to the transaction that was being written at a power cut, but before a second one is written, everything
// earlier is synced. Valid only if each commit is synced (Durability::full).
std::string wal_damage(std::string_view wal, std::int64_t page_bytes);

// Returns the damage of the -wal of the database at `path`; empty also if either file is missing or unreadable.
std::string wal_damage_of(const std::string& path);

}  // namespace memoir
