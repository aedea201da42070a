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

TEST_CASE("mountinfo: every tmpfs is listed by device") {
  const auto mounts = parse_tmpfs_mounts(test::fixture("linux-6.18/machine/mountinfo"));
  REQUIRE(mounts.ok());
  REQUIRE(mounts->size() == 3);
  CHECK(mounts->at(0) == TmpfsMount{0, 23, "/dev/shm", 24'684'096, true, "tmpfs"});
  CHECK(mounts->at(1) == TmpfsMount{0, 27, "/dev/shm", 24'684'096, true, "tmpfs"});
  CHECK(mounts->at(2).mount_point == "/sys/fs/cgroup");
  CHECK_FALSE(mounts->at(2).limit_kib);
  CHECK(mounts->at(2).mounted_on == std::vector<std::string>{"blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer",
                                                             "memory", "pids", "systemd", "unified"});
}

TEST_CASE("mountinfo: escapes are decoded, and optional fields are skipped") {
  const auto mounts = parse_tmpfs_mounts(
      "36 35 0:40 / /mnt/a\\040b\\134\\011c\\999 rw shared:1 master:2 - tmpfs my\\040shm rw\n"
      "37 35 8:1 /x /home rw - ext4 /dev/sda1 rw\n");
  REQUIRE(mounts.ok());
  CHECK(*mounts == std::vector<TmpfsMount>{{0, 40, "/mnt/a b\\\tc\\999", {}, true, "my shm"}});
}

TEST_CASE("mountinfo: the mount of a file system's root comes first, and the shortest mount point among these") {
  const auto mounts = parse_tmpfs_mounts(
      "1 0 0:40 /part /a rw - tmpfs none rw\n2 0 0:40 / /long rw - tmpfs none rw\n3 0 0:40 / /b rw - tmpfs none rw\n"
      "4 0 8:1 / /b/disk\\040one rw - ext4 /dev/sda1 rw\n5 0 8:1 / /bc rw - ext4 /dev/sda1 rw\n");
  REQUIRE(mounts.ok());
  REQUIRE(mounts->size() == 3);
  CHECK(mounts->at(0) == TmpfsMount{0, 40, "/b", std::nullopt, true, "none", {"disk one"}});
  CHECK(mounts->at(1).mount_point == "/long");
  CHECK(mounts->at(2) == TmpfsMount{0, 40, "/a", std::nullopt, false, "none"});
}

TEST_CASE("mountinfo: sizes may have any unit") {
  const auto [option, kib] =
      GENERATE(table<std::string, std::optional<std::int64_t>>({{"size=4096", 4},
                                                                {"size=24684096k", 24'684'096},
                                                                {"nr_inodes=5,size=2M,mode=755", 2048},
                                                                {"size=1g", 1 << 20},
                                                                {"size=1T", 1LL << 30},
                                                                {"size=1p", 1LL << 40},
                                                                {"size=0", std::nullopt},
                                                                {"size=50%", std::nullopt},
                                                                {"size=", std::nullopt},
                                                                {"size=k", std::nullopt},
                                                                {"size=99999999999999p", std::nullopt},
                                                                {"", std::nullopt}}));
  CAPTURE(option);
  const auto mounts = parse_tmpfs_mounts("1 0 0:40 / /a rw - tmpfs none rw," + option + "\n");
  REQUIRE(mounts.ok());
  CHECK(mounts->at(0).limit_kib == kib);
}

TEST_CASE("mountinfo: a line that is truncated or lacks a field affects no other line") {
  const auto text =
      GENERATE(as<std::string>{}, "", "\n", "36 35 0:40 / /mnt rw - tmpfs none rw", "36 35 0:40 / /mnt rw\n",
               "36 35 x:40 / /mnt rw - tmpfs none rw\n", "36 35 0:40 / mnt rw - tmpfs none rw\n");
  INFO(text);
  CHECK(parse_tmpfs_mounts(text).error().kind == ErrorKind::malformed);
  OddLines odd;
  const auto mounts = parse_tmpfs_mounts("1 0 0:40 / /a rw - tmpfs none rw\n" + text, &odd);
  REQUIRE(mounts.ok());
  CHECK(mounts->size() == 1);
  CHECK(odd.count() == (text.empty() ? 0 : 1));
}

TEST_CASE("tmpfs: a mount has its usage, and another or absent one has none") {
  CHECK_FALSE(tmpfs_room({0, 1, "/"}));
  CHECK_FALSE(tmpfs_room({0, 2, "/none"}));

  struct statfs room {};
  struct stat place {};
  const std::string path = "/dev/shm/memoir-test-" + std::to_string(::getpid());
  if (::statfs("/dev/shm", &room) != 0 || room.f_type != TMPFS_MAGIC || ::access("/dev/shm", W_OK) != 0) {
    WARN("skipped: no writable tmpfs at /dev/shm");
    return;
  }
  REQUIRE(::stat("/dev/shm", &place) == 0);
  REQUIRE(write_file(path, std::string(4 << 20, 'x')).ok());
  const auto room_then = tmpfs_room({major(place.st_dev), minor(place.st_dev), "/dev/shm"});
  std::filesystem::remove(path);
  REQUIRE(room_then);
  CHECK(room_then->used_kib.value_or(4096) >= 4096);
  CHECK(room_then->limit_kib.has_value() == room_then->used_kib.has_value());
  const std::uint64_t bytes = room.f_blocks * static_cast<std::uint64_t>(room.f_bsize);
  CHECK(room_then->limit_kib.value_or(0) == static_cast<std::int64_t>(bytes / 1024));
  CHECK_FALSE(tmpfs_room({major(place.st_dev), minor(place.st_dev) + 1, "/dev/shm"}));  // another mount hides this one
}
