#pragma once

// Opens files safely in folders where other users may have replaced them.

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Opens for reading and writing. Creates a missing file with `mode`; accepts an existing one only if it is a regular
// file with one name that belongs to this user or to root. Follows no link, and never waits.
Result<Fd> open_own_file(const std::string& path, mode_t mode);

// The same check for a file that other code opens by its path: it is missing, or acceptable to open_own_file().
Status check_own_file(const std::string& path);

// Like read_file(), for a path from a user, or where others may have placed a file: a fifo is an immediate error.
Result<std::string_view> read_named_file(const std::string& path, Buffer& buffer, std::size_t cap);

// Accepts a regular file or a missing one: opening anything else for reading may wait forever.
Status check_regular(const std::string& path);

}  // namespace memoir
