#pragma once

// Determines a file's owner by its bytes, before SQLite opens the file, or if SQLite cannot open it. The file format
// is described at https://sqlite.org/fileformat.html, 1.3. The header has 100 bytes; the application id is at byte 68,
// big-endian; bytes 72 to 91 are reserved and zero.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace memoir {

inline constexpr std::int32_t kApplicationId = 0x4D454D52;  // "MEMR"
inline constexpr std::size_t kHeaderBytes = 100;

enum class FileOwner {
  ours,
  unclaimed,   // a SQLite file without an application id
  foreign,     // a SQLite file with another program's application id
  unreadable,  // the header is not that of a SQLite file
};

FileOwner owner_of(std::string_view header);

// Returns whether a file that cannot be read as a database was one of ours, so that it may be moved out of the way.
// Requires evidence that no other file contains by chance: our application id in an otherwise valid database header, or
// the row of our table in its schema, as SQLite encodes it. `start` is the beginning of the file, at most kStartBytes.
bool was_ours(std::string_view start);
inline constexpr std::size_t kStartBytes = 1024 * 1024;

// Returns was_ours() for the file at `path`.
bool is_ours_damaged(const std::string& path);

}  // namespace memoir
