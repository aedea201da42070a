// Walks of a test folder, which may be on any file system.

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

#include "collect/tmpfs/walk.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;
namespace fs = std::filesystem;

namespace {

WalkLimits unhurried() {
  WalkLimits limits;
  limits.time = std::chrono::seconds(60);
  limits.min_kib = 1;
  return limits;
}

struct Folder {
  test::TemporaryDirectory directory;

  std::string path(const std::string& name = "") const {
    return name.empty() ? directory.path() : directory.path() + '/' + name;
  }
  void fill(const std::string& name, std::size_t bytes) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << std::string(bytes, 'x');
  }
  TmpfsMount mount() const {
    struct stat status {};
    REQUIRE(::stat(path().c_str(), &status) == 0);
    return {major(status.st_dev), minor(status.st_dev), path()};
  }
  TmpfsTree walk(const WalkLimits& limits = unhurried()) const { return walk_tmpfs(mount(), limits); }
};

TmpfsEntry entry(const TmpfsTree& tree, const std::string& path) {
  const auto found = std::ranges::find(tree.largest, path, &TmpfsEntry::path);
  if (found == tree.largest.end()) FAIL("not kept: " << path);
  return *found;
}

// Sum of st_size, as stat(2) reports it, over the entries of a folder.
std::int64_t lengths_in_kib(const std::vector<std::string>& paths) {
  std::int64_t bytes = 0;
  for (const std::string& path : paths) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    bytes += status.st_size;
  }
  return bytes / 1024;
}

std::int64_t kib_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_blocks / 2;
}

}  // namespace

TEST_CASE("tmpfs walk: directories include their contents, hard-linked files count once, links are not followed") {
  const Folder folder;
  folder.fill("a/one", 100 * 1024);
  folder.fill("a/b/two", 200 * 1024);
  folder.fill("c/three", 50 * 1024);
  fs::create_hard_link(folder.path("a/one"), folder.path("c/again"));
  fs::create_directory_symlink("/usr", folder.path("link"));
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  REQUIRE(::mknod(folder.path("socket").c_str(), S_IFSOCK | 0600, 0) == 0);
  fs::resize_file(folder.path("c/three"), 1 << 30);

  const TmpfsTree tree = folder.walk();
  CHECK(tree.walk == TmpfsWalk::whole);
  CHECK(tree.problem.empty());
  CHECK(tree.content.entries == 9);
  CHECK(tree.content.directories == 3);
  CHECK(tree.content.symlinks == 1);
  CHECK(tree.content.fifos == 1);
  CHECK(tree.content.sockets == 1);
  CHECK(tree.content.devices == 0);
  std::vector<std::string> all;
  for (const char* name : {"a", "a/one", "a/b", "a/b/two", "c", "c/three", "link", "pipe", "socket"})
    all.push_back(folder.path(name));
  CHECK(tree.content.logical_kib == lengths_in_kib(all));
  const std::int64_t two = kib_of(folder.path("a/b/two"));
  CHECK(entry(tree, "a/b/two").allocated_kib == two);
  CHECK(entry(tree, "a/b/two").logical_kib == 200);
  CHECK(entry(tree, "a/b/two").uid == ::geteuid());
  CHECK(entry(tree, "a/b/two").changed_ms > 1'600'000'000'000);
  CHECK(entry(tree, "a/b").allocated_kib >= two);
  CHECK(entry(tree, "").allocated_kib == tree.content.allocated_kib);
  CHECK(entry(tree, "").entries == 9);
  CHECK(std::ranges::is_sorted(tree.largest, {}, &TmpfsEntry::path));
  CHECK(std::ranges::count_if(tree.largest, [](const TmpfsEntry& kept) { return kept.path.starts_with("link"); }) == 0);
}

TEST_CASE("tmpfs walk: the largest of each kind are kept") {
  const Folder folder;
  for (int i = 1; i <= 6; ++i) folder.fill("file" + std::to_string(i), static_cast<std::size_t>(i) * 64 * 1024);
  WalkLimits limits = unhurried();
  limits.files = 2;
  limits.directories = 1;
  limits.min_kib = 64;
  const TmpfsTree tree = folder.walk(limits);
  REQUIRE(tree.largest.size() == 3);
  CHECK(tree.largest[0].path.empty());
  CHECK(tree.largest[1].path == "file5");
  CHECK(tree.largest[2].path == "file6");
}

TEST_CASE("tmpfs walk: names may have any bytes, and paths may be too long") {
  const Folder folder;
  folder.fill("new\nline", 4096);
  folder.fill("\xff\xfe", 4096);
  folder.fill("\\xFF\\xFE", 4096);  // a different name that looks the same when escaped
  folder.fill(std::string(200, 'l') + '/' + std::string(200, 'o'), 4096);
  const TmpfsTree tree = folder.walk();
  CHECK(tree.walk == TmpfsWalk::whole);
  CHECK(entry(tree, "new\nline").entries == 1);
  CHECK(std::ranges::count(tree.largest, "\\xFF\\xFE", &TmpfsEntry::path) == 1);
  CHECK(entry(tree, std::string(200, 'l')).entries == 1);
  CHECK(std::ranges::count_if(tree.largest, [](const TmpfsEntry& kept) { return kept.path.size() > 256; }) == 0);
  CHECK(tree.content.entries == 5);
}

TEST_CASE("tmpfs walk: the result is partial if there are too many entries or levels, or if it takes too long") {
  const Folder folder;
  for (int i = 0; i < 50; ++i) folder.fill("d/" + std::to_string(i), 1);
  WalkLimits limits = unhurried();
  limits.entries = 20;
  const TmpfsTree few = folder.walk(limits);
  CHECK(few.walk == TmpfsWalk::cut);
  CHECK(few.content.entries == 20);
  CHECK(few.problem == "it has more than 20 entries");
  CHECK(few.content.allocated_kib > 0);
  limits = unhurried();
  limits.depth = 1;
  const TmpfsTree shallow = folder.walk(limits);
  CHECK(shallow.walk == TmpfsWalk::cut);
  CHECK(shallow.content.entries == 1);
  limits = unhurried();
  limits.time = std::chrono::milliseconds(0);
  CHECK(folder.walk(limits).walk == TmpfsWalk::cut);
}

TEST_CASE("tmpfs walk: mounts below it are not entered, and other file systems are excluded") {
  const Folder folder;
  folder.fill("a/mounted/x", 4096);
  folder.fill("a/own", 4096);
  TmpfsMount mount = folder.mount();
  mount.mounted_on = {"a/mounted"};
  const TmpfsTree tree = walk_tmpfs(mount, unhurried());
  CHECK(tree.content.entries == 2);
  mount.minor += 1;
  const TmpfsTree hidden = walk_tmpfs(mount, unhurried());
  CHECK(hidden.walk == TmpfsWalk::not_read);
  CHECK(hidden.problem == "another mount hides it");
}

TEST_CASE("tmpfs walk: inaccessible directories are counted") {
  const Folder folder;
  folder.fill("closed/x", 4096);
  folder.fill("open", 4096);
  const TmpfsMount mount = folder.mount();
  CHECK(walk_tmpfs({0, 1, "/nowhere"}, unhurried()).walk == TmpfsWalk::not_read);
  if (::geteuid() == 0) {
    WARN("skipped: root can enter every directory");
    return;
  }
  fs::permissions(folder.path("closed"), fs::perms::none);
  const TmpfsTree tree = walk_tmpfs(mount, unhurried());
  fs::permissions(folder.path(), fs::perms::none);
  const TmpfsTree none = walk_tmpfs(mount, unhurried());
  fs::permissions(folder.path(), fs::perms::owner_all);
  fs::permissions(folder.path("closed"), fs::perms::owner_all);
  CHECK(tree.walk == TmpfsWalk::cut);
  CHECK(tree.content.closed == 1);
  CHECK(tree.content.entries == 2);
  CHECK(none.walk == TmpfsWalk::not_read);
}

TEST_CASE("tmpfs walk: files and folders may appear and disappear during the walk") {
  const Folder folder;
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int i = 0; !stop; ++i) {
      const std::string name = folder.path("d" + std::to_string(i % 7));
      std::error_code ignored;
      fs::create_directories(name + "/e", ignored);
      std::ofstream(name + "/e/f") << i;
      fs::rename(name + "/e", name + "/g", ignored);
      fs::remove_all(folder.path("d" + std::to_string((i + 3) % 7)), ignored);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const TmpfsTree tree = folder.walk();
    CHECK(tree.walk == TmpfsWalk::whole);
    CHECK(tree.content.entries <= 40);
  }
  stop = true;
  busy.join();
}
