// Real file systems that are full, read-only or unmounted while a real recorder uses them. The mounts are private to
// the test and need root; without root these tests warn and pass.

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir;
using namespace memoir::test;

namespace {

std::int64_t now_ms() {
  return SystemClock().now().boot_ms;
}

void wait_ms(std::int64_t ms) {
  const std::int64_t until = now_ms() + ms;
  wait_until("time to pass", [&] { return now_ms() >= until; });
}

// Makes later mounts visible only to this process and its children; they vanish when these exit.
bool can_mount() {
  if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0)
    return true;
  WARN("skipped: mounting a file system needs root (" << std::strerror(errno) << ")");
  return false;
}

// A file system in memory, mounted on the folder of a scene.
class Mount {
 public:
  Mount(const Scene& scene, const std::string& options) : folder_(scene.folder()) {
    if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, options.c_str()) != 0) FAIL(std::strerror(errno));
  }
  ~Mount() { umount2(folder_.c_str(), MNT_DETACH); }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

 private:
  const std::string folder_;
};

// Uses all free space.
void fill(const std::string& path) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(file);
  const std::string block(4096, 'x');
  while (write(file.get(), block.data(), block.size()) > 0) continue;
  REQUIRE(errno == ENOSPC);
}

void wait_for_log(Recorder& recorder, const std::string& text) {
  wait_until(text, [&] { return contains(recorder.child().errors(), text); });
}

std::int64_t ticks_between(const Scene& scene, std::int64_t from_ms, std::int64_t to_ms) {
  return scene
      .number("SELECT count(*) FROM tick WHERE boot_ms BETWEEN " + std::to_string(from_ms) + " AND " +
              std::to_string(to_ms))
      .value_or(0);
}

}  // namespace

TEST_CASE("a disk that is full for a while loses no tick") {
  if (!can_mount()) return;
  const Scene scene;
  const Mount disk(scene, "size=3m");
  Recorder recorder(scene, "100ms");
  recorder.tick();
  const std::int64_t before = now_ms();
  fill(scene.folder() + "/filler");
  wait_for_log(recorder, "the disk is full");
  const std::int64_t from = now_ms();
  wait_ms(1000);
  const std::int64_t to = now_ms();
  std::filesystem::remove(scene.folder() + "/filler");
  wait_for_log(recorder, "the store works again");
  recorder.tick();
  // Slots that a loaded machine missed are counted; all other slots are stored.
  const std::int64_t skipped =
      *scene.number("SELECT COALESCE(SUM(skipped), 0) FROM tick WHERE boot_ms >= " + std::to_string(from));
  CHECK(ticks_between(scene, from, to) + skipped >= (to - from) / 100 - 2);
  CHECK(ticks_between(scene, before, to) > 0);
  CHECK(scene.number("SELECT count(*) FROM event WHERE kind = 'lost'") == 0);
  CHECK(recorder.stop() == 0);
  CHECK(scene.text("PRAGMA integrity_check") == "ok");
}

TEST_CASE("a disk that is full for longer than ticks can wait leaves a reported gap") {
  if (!can_mount()) return;
  const Scene scene;
  const Mount disk(scene, "size=3m");
  const std::string config = scene.folder() + "/memoir.toml";
  std::ofstream(config) << "[recorder]\nqueue_ticks = 3\n";
  Recorder recorder(scene, "100ms", {}, {"--config", config});
  recorder.tick();
  fill(scene.folder() + "/filler");
  wait_for_log(recorder, "the disk is full");
  wait_ms(1500);
  std::filesystem::remove(scene.folder() + "/filler");
  wait_for_log(recorder, "the store works again");
  recorder.tick();
  CHECK(scene.number("SELECT count(*) FROM event WHERE kind = 'lost'") == 1);
  CHECK_FALSE(scene.answer({"status"}).at("coverage").at("gaps").empty());
  CHECK(recorder.stop() == 0);
}

TEST_CASE("a crashed recorder starts on a full disk, and stores its ticks when there is space") {
  if (!can_mount()) return;
  const Scene scene;
  const Mount disk(scene, "size=3m");
  {
    Recorder recorder(scene, "100ms");
    recorder.tick();
    recorder.kill();
  }
  fill(scene.folder() + "/filler");
  const std::int64_t from = now_ms();
  Recorder recorder(scene, "100ms");
  wait_for_log(recorder, "cannot store");
  wait_ms(500);
  const std::int64_t to = now_ms();
  REQUIRE(recorder.child().running());
  std::filesystem::remove(scene.folder() + "/filler");
  recorder.tick();
  CHECK(ticks_between(scene, from, to) > 0);
  CHECK(scene.number("SELECT count(*) FROM event WHERE kind = 'unclean'") == 1);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("a read-only file system is refused at the start, with the fix") {
  if (!can_mount()) return;
  const Scene scene;
  const Mount disk(scene, "size=3m");
  const bool recorded = GENERATE(false, true);
  if (recorded) CHECK(Recorder(scene, "1h", {}, {"--once"}).child().wait() == 0);
  REQUIRE(mount(nullptr, scene.folder().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
  Recorder refused(scene);
  CHECK(refused.child().wait() == 1);
  INFO(refused.child().errors());
  CHECK(contains(refused.child().errors(), scene.db()));
  CHECK(contains(refused.child().errors(), "ead-only file system"));
  REQUIRE(mount(nullptr, scene.folder().c_str(), nullptr, MS_REMOUNT, nullptr) == 0);
  CHECK(Recorder(scene, "1h", {}, {"--once"}).child().wait() == 0);
}

// The same happens to ext4 with errors=remount-ro. While a recorder has its file open, only the file system itself can
// make it read-only, and it becomes writable only by a new mount.
TEST_CASE("ticks continue on a file system that becomes read-only, and pending ticks go to its replacement") {
  if (!can_mount()) return;
  const Scene outside;
  const std::string image = outside.folder() + "/image";
  std::ofstream(image).close();
  std::filesystem::resize_file(image, 16 << 20);
  const Scene scene;
  const Outcome mounted =
      run({.path = "/bin/sh",
           .arguments = {"-c", "/sbin/mkfs.ext4 -q '" + image + "' && /bin/mount -o loop,errors=remount-ro '" + image +
                                   "' '" + scene.folder() + "' && chmod 777 '" + scene.folder() +
                                   "' && findmnt -n -o SOURCE '" + scene.folder() + "'"}});
  if (mounted.status != 0) {
    WARN("skipped: no ext4 on a loop device here: " << mounted.err);
    return;
  }
  const std::string device = std::filesystem::path(mounted.out.substr(0, mounted.out.find('\n'))).filename();
  Recorder recorder(scene, "100ms");
  recorder.tick();
  std::ofstream("/sys/fs/ext4/" + device + "/trigger_fs_error") << "1";
  wait_for_log(recorder, "cannot store");
  const std::int64_t from = now_ms();
  wait_ms(500);
  const std::int64_t to = now_ms();
  REQUIRE(umount2(scene.folder().c_str(), MNT_DETACH) == 0);
  const Mount another(scene, "size=3m");
  recorder.tick();
  CHECK(ticks_between(scene, from, to) > 0);
  CHECK(scene.number("SELECT count(*) FROM event WHERE kind = 'moved'") == 1);
  CHECK(recorder.stop() == 0);
}
