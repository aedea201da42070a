#pragma once

// The file system of a database. The write-ahead log needs memory that all users of the file share, which a network
// file system lacks (https://sqlite.org/wal.html).

#include <cstdint>
#include <string>
#include <sys/types.h>

#include "base/result.h"

namespace memoir {

// Returns the name of a file system that other machines may write to, by the f_type of statfs(2); empty for a local
// one. FUSE may be either, and counts as remote.
std::string remote_file_system(unsigned type);

// Returns the same for the folder of `path`.
Result<std::string> remote_file_system_of(const std::string& path);

// Identity of the file at a path; all 0 without a file.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const std::string& path);

// Returns the size of a file; 0 if there is none, or its size is unavailable.
std::int64_t file_bytes(const std::string& path);

}  // namespace memoir
