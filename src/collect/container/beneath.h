#pragma once

// Files below a folder that others write to: no symbolic link is followed on the way down, and nothing but a plain file
// is read.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// The file at `steps` below `folder`, which itself may be reached by links. More than `cap` bytes: an error.
Result<std::string_view> read_beneath(const std::string& folder, const std::vector<std::string>& steps, Buffer& buffer,
                                      std::size_t cap);

// The names in a folder, no more than `most`; none where it cannot be read.
std::vector<std::string> names_in(const std::string& folder, std::size_t most);

}  // namespace memoir
