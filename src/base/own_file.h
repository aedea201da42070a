#pragma once

// Opens files safely in folders where other users may have replaced them.

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Opens for reading and writing. Creates a missing file with `mode`. Accepts an existing one only if it is a regular
// file without other hard links and belongs to this user or to root. Follows no symbolic link, and never waits.
Result<Fd> open_own_file(const std::string& path, mode_t mode);

// Checks a file that other code opens by its path. Succeeds if it is missing, or if open_own_file() would accept it.
Status check_own_file(const std::string& path);

// Like read_file(), for a path that a user gave, or a file in a folder where other users may create files. Returns an
// error for a fifo instead of waiting.
Result<std::string_view> read_named_file(const std::string& path, Buffer& buffer, std::size_t cap);

// Returns an error unless the file is regular or missing: opening anything else for reading may wait forever.
Status check_regular(const std::string& path);

}  // namespace memoir
