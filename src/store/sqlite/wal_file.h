#pragma once

// The -wal as a file (https://sqlite.org/fileformat.html, 4). SQLite reads it up to the first frame whose checksum does
// not hold: that is how it tells what a power cut left half written. Bytes that were damaged later look the same to it,
// and all that was committed after them is dropped without a word. Here they are told apart.

#include <cstdint>
#include <string>
#include <string_view>

namespace memoir {

inline constexpr std::int64_t kWalHeadBytes = 32;
inline constexpr std::int64_t kWalFrameHeadBytes = 24;

// What is wrong with it, or nothing: a frame that does not hold with two whole commits after it. One may belong to the
// transaction that was being written when the power went; before the second, what came earlier was synced. Holds only
// where each commit is (Durability::full).
std::string wal_damage(std::string_view wal, std::int64_t page_bytes);

// The same of the -wal beside the database at `path`; nothing where one of them is not there, or cannot be read.
std::string wal_damage_of(const std::string& path);

}  // namespace memoir
