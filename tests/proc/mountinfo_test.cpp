#include "proc/mountinfo.h"

#include <filesystem>
#include <linux/magic.h>
#include <sys/statfs.h>
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

TEST_CASE("tmpfs: what lies there is counted once for a device, and what is none not at all") {
  Buffer buffer;
  const auto text = read_file(ProcFs().path(SystemFile::mountinfo), buffer);
  REQUIRE(text.ok());
  const auto mounts = parse_tmpfs_mounts(*text);
  REQUIRE(mounts.ok());
  CHECK(tmpfs_used_kib({{0, 1, "/"}, {0, 2, "/none"}}) == 0);

  struct statfs room {};
  const std::string path = "/dev/shm/memoir-test-" + std::to_string(::getpid());
  if (::statfs("/dev/shm", &room) != 0 || room.f_type != TMPFS_MAGIC || ::access("/dev/shm", W_OK) != 0) {
    WARN("skipped: no tmpfs at /dev/shm that may be written");
    return;
  }
  REQUIRE(write_file(path, std::string(4 << 20, 'x')).ok());
  const std::int64_t once = tmpfs_used_kib(*mounts);
  std::vector<TmpfsMount> twice = *mounts;
  for (const TmpfsMount& mount : *mounts) twice.push_back(mount);
  std::sort(twice.begin(), twice.end());
  const std::int64_t of_twice = tmpfs_used_kib(twice);
  std::filesystem::remove(path);
  CHECK(once >= 4096);
  // Others may write there meanwhile, but hardly as much as is there.
  CHECK(of_twice < 2 * once);
}
