#include "proc/mountinfo.h"

#include <filesystem>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "proc/proc_fs.h"
#include "proc/tmpfs.h"
#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("mountinfo: every tmpfs, by device") {
  const auto mounts = parse_tmpfs_mounts(test::fixture("linux-6.18/machine/mountinfo"));
  REQUIRE(mounts.ok());
  CHECK(*mounts == std::vector<TmpfsMount>{{0, 23, "/dev/shm"}, {0, 27, "/dev/shm"}, {0, 28, "/sys/fs/cgroup"}});
}

TEST_CASE("mountinfo: escapes are undone, optional fields passed over") {
  const auto mounts = parse_tmpfs_mounts(
      "36 35 0:40 / /mnt/a\\040b\\134\\011c\\999 rw shared:1 master:2 - tmpfs none rw\n"
      "37 35 8:1 /x /home rw - ext4 /dev/sda1 rw\n");
  REQUIRE(mounts.ok());
  CHECK(*mounts == std::vector<TmpfsMount>{{0, 40, "/mnt/a b\\\tc\\999"}});
}

TEST_CASE("mountinfo: what is torn or lacks a field is malformed") {
  const auto text =
      GENERATE(as<std::string>{}, "", "\n", "36 35 0:40 / /mnt rw - tmpfs none rw", "36 35 0:40 / /mnt rw\n",
               "36 35 x:40 / /mnt rw - tmpfs none rw\n", "36 35 0:40 / mnt rw - tmpfs none rw\n");
  INFO(text);
  CHECK(parse_tmpfs_mounts(text).error().kind == ErrorKind::malformed);
}

TEST_CASE("tmpfs: what lies there, and nothing of what is none or not there") {
  CHECK_FALSE(tmpfs_used_kib({0, 1, "/"}));
  CHECK_FALSE(tmpfs_used_kib({0, 2, "/none"}));

  struct statfs room {};
  struct stat place {};
  const std::string path = "/dev/shm/memoir-test-" + std::to_string(::getpid());
  if (::statfs("/dev/shm", &room) != 0 || room.f_type != TMPFS_MAGIC || ::access("/dev/shm", W_OK) != 0) {
    WARN("skipped: no tmpfs at /dev/shm that may be written");
    return;
  }
  REQUIRE(::stat("/dev/shm", &place) == 0);
  REQUIRE(write_file(path, std::string(4 << 20, 'x')).ok());
  const auto used_kib = tmpfs_used_kib({major(place.st_dev), minor(place.st_dev), "/dev/shm"});
  std::filesystem::remove(path);
  CHECK(used_kib.value_or(0) >= 4096);
  CHECK_FALSE(tmpfs_used_kib({major(place.st_dev), minor(place.st_dev) + 1, "/dev/shm"}));  // another hides it
}
