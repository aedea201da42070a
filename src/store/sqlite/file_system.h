#pragma once

// What a database lies on. The write-ahead log needs memory that all who use the file share, which a network's file
// system does not have (https://sqlite.org/wal.html).

#include <cstdint>
#include <string>

#include "base/result.h"

namespace memoir {

// The name of a file system that other machines may write to, by the f_type of statfs(2); empty for a local one. FUSE
// may be either.
std::string remote_file_system(unsigned type);

// That of the folder in which `path` lies.
Result<std::string> remote_file_system_of(const std::string& path);

// 0 where there is no such file, or its size is not to be had.
std::int64_t file_bytes(const std::string& path);

}  // namespace memoir
