#pragma once

// Files that we write to in folders where others may have put something in their place.

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Opens for reading and writing. What is not there is made with `mode`; what is there is taken only if it is a regular
// file of one name that belongs to this user or to root. Follows no link, and never waits.
Result<Fd> open_own_file(const std::string& path, mode_t mode);

// The same for what somebody else opens by its path: nothing is there, or what open_own_file() would take.
Status check_own_file(const std::string& path);

// As read_file(), of a path that a person names or that others may have put something at: a fifo is an error, at once.
Result<std::string_view> read_named_file(const std::string& path, Buffer& buffer, std::size_t cap);

// A regular file, or nothing: whoever opens anything else for reading may wait forever.
Status check_regular(const std::string& path);

}  // namespace memoir
