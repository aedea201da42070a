#include "store/sqlite/file_system.h"

#include <linux/magic.h>

#include "store_fixture.h"

namespace memoir::test {
namespace {

TEST_CASE("a file system that other machines can write is recognised by its type") {
  REQUIRE(remote_file_system(NFS_SUPER_MAGIC) == "NFS");
  REQUIRE(remote_file_system(0xff534d42U) == "CIFS");
  REQUIRE(remote_file_system(0xfe534d42U) == "SMB");
  REQUIRE(remote_file_system(0x65735546U) == "FUSE");
  for (const std::int64_t local :
       std::initializer_list<std::int64_t>{EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC})
    REQUIRE(remote_file_system(static_cast<unsigned>(local)).empty());
}

TEST_CASE("the file system is that of the folder, whether or not the file exists") {
  const StoreFixture fixture;
  REQUIRE(remote_file_system_of(fixture.path()).ok());
  const auto missing = remote_file_system_of(fixture.folder() + "/none/memoir.db");
  REQUIRE(!missing.ok());
  REQUIRE(missing.error().message.find(fixture.folder() + "/none") != std::string::npos);
}

}  // namespace
}  // namespace memoir::test
