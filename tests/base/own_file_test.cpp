#include "base/own_file.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "support/catch.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

namespace {

namespace fs = std::filesystem;

void check_refused(const std::string& path, const std::string& why) {
  CAPTURE(why);
  const Result<Fd> opened = open_own_file(path, 0640);
  REQUIRE(!opened.ok());
  CHECK(opened.error().message.find(path) == 0);
  CHECK(opened.error().message.find(why) != std::string::npos);
  CHECK(!check_own_file(path).ok());
}

}  // namespace

TEST_CASE("Missing files are created, and files of the same user are used as they are") {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/file";
  CHECK(check_own_file(path).ok());
  REQUIRE(open_own_file(path, 0600).ok());
  CHECK(fs::status(path).permissions() == fs::perms(0600));
  std::ofstream(path) << "kept";
  REQUIRE(open_own_file(path, 0640).ok());
  CHECK(check_own_file(path).ok());
  CHECK(slurp(path) == "kept");
}

TEST_CASE("Files that other users may have created are refused at once and left unchanged") {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/file";
  const std::string target = folder.path() + "/target";
  SECTION("a dangling link") {
    fs::create_symlink(target, path);
    check_refused(path, "symbolic link");
    CHECK(!fs::exists(target));
  }
  SECTION("a link to a file of the same user") {
    std::ofstream(target) << "ours";
    fs::create_symlink(target, path);
    check_refused(path, "symbolic link");
  }
  SECTION("a second name of a file of the same user") {
    std::ofstream(target) << "ours";
    fs::create_hard_link(target, path);
    check_refused(path, "several names");
  }
  SECTION("a fifo") {
    REQUIRE(mkfifo(path.c_str(), 0666) == 0);
    check_refused(path, "not a regular file");
    CHECK(!check_regular(path).ok());
    Buffer buffer;
    CHECK(!read_named_file(path, buffer, 10).ok());
  }
  SECTION("a directory") {
    fs::create_directory(path);
    check_refused(path, "not a regular file");
  }
  SECTION("another user's file") {
    if (geteuid() != 0) return;
    std::ofstream(path) << "theirs";
    REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
    REQUIRE(chmod(path.c_str(), 0666) == 0);
    check_refused(path, "another user");
    CHECK(slurp(path) == "theirs");
  }
}

TEST_CASE("A result is not written through a temporary name that is a hard link to another file") {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/report";
  std::ofstream(folder.path() + "/ours") << "ours";
  fs::create_hard_link(folder.path() + "/ours", path + ".partial");
  const Status written = write_file(path, "result");
  REQUIRE(!written.ok());
  CHECK(written.error().message.find(path + ".partial") == 0);
  CHECK(slurp(folder.path() + "/ours") == "ours");
  CHECK(!fs::exists(path));
}
