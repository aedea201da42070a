#include "store/sqlite/file_system.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <utility>

#include "base/file.h"

namespace memoir {
namespace {

// From linux/magic.h; CIFS, SMB2, FUSE and Lustre define theirs in their own sources.
constexpr std::array<std::pair<unsigned, const char*>, 10> kRemote{{{NFS_SUPER_MAGIC, "NFS"},
                                                                    {SMB_SUPER_MAGIC, "SMB"},
                                                                    {0xff534d42U, "CIFS"},
                                                                    {0xfe534d42U, "SMB"},
                                                                    {0x65735546U, "FUSE"},
                                                                    {AFS_SUPER_MAGIC, "AFS"},
                                                                    {CEPH_SUPER_MAGIC, "Ceph"},
                                                                    {V9FS_MAGIC, "9p"},
                                                                    {CODA_SUPER_MAGIC, "Coda"},
                                                                    {0x0bd00bd0U, "Lustre"}}};

}  // namespace

std::string remote_file_system(unsigned type) {
  for (const auto& [magic, name] : kRemote) {
    if (type == magic) return name;
  }
  return "";
}

Result<std::string> remote_file_system_of(const std::string& path) {
  std::error_code error;
  const std::string folder = std::filesystem::absolute(path, error).parent_path();
  struct statfs found {};
  if (statfs(folder.c_str(), &found) != 0) return errno_error(errno, "inspect the file system of", folder);
  // f_type is signed on some machines, and some of the numbers have the upper bit.
  return remote_file_system(static_cast<unsigned>(found.f_type));
}

FileIdentity identity_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

std::int64_t file_bytes(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

}  // namespace memoir
