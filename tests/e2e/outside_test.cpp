// Memory outside of processes: a growing file in a tmpfs, and a segment without attached processes.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kKib = 16 * 1024;

// A tmpfs: a mount if permitted, otherwise a folder in /dev/shm; absent without either.
class Tmpfs {
 public:
  explicit Tmpfs(const Scene& scene) {
    const std::string own = scene.folder() + "/a tmpfs";
    fs::create_directory(own);
    if (::mount("tmpfs", own.c_str(), "tmpfs", 0, "size=256m") == 0) {
      mount_point_ = folder_ = own;
      mounted_ = true;
      return;
    }
    struct statfs space {};
    if (::statfs("/dev/shm", &space) != 0 || space.f_type != TMPFS_MAGIC || ::access("/dev/shm", W_OK) != 0) return;
    mount_point_ = "/dev/shm";
    folder_ = "/dev/shm/memoir-test-" + std::to_string(getpid());
    fs::create_directory(folder_);
  }
  ~Tmpfs() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
    if (!mounted_ && !folder_.empty()) fs::remove_all(folder_);
  }
  Tmpfs(const Tmpfs&) = delete;
  Tmpfs& operator=(const Tmpfs&) = delete;

  const std::string& mount_point() const { return mount_point_; }
  // Appends `kib` KiB to a file in the tmpfs.
  void grow(const std::string& name, std::int64_t kib) const {
    std::ofstream(folder_ + '/' + name, std::ios::app) << std::string(static_cast<std::size_t>(kib) * 1024, 'x');
  }

 private:
  std::string mount_point_;
  std::string folder_;
  bool mounted_ = false;
};

const json* find(const json& rows, const std::string& name) {
  for (const json& row : rows) {
    if (row.at("path").get<std::string>().ends_with(name)) return &row;
    if (const json* below = find(row.at("children"), name)) return below;
  }
  return nullptr;
}

// Waits until a walk has found this size of the file, and returns the file's row.
json wait_for(const Scene& scene, Recorder& recorder, const Tmpfs& tmpfs, const std::string& name, std::int64_t kib) {
  json found;
  wait_until("a walk of " + tmpfs.mount_point(), [&] {
    recorder.tick();
    const Outcome outcome = scene.ask({"tmpfs", tmpfs.mount_point(), "--limit", "0", "--format", "json"});
    if (outcome.status != 0) return false;
    const json answer = json::parse(outcome.out);
    const json* row = find(answer.at("rows"), name);
    if (row != nullptr) found = *row;
    return row != nullptr && row->at("allocated_kib") >= kib;
  });
  return found;
}

// Returns the path of a configuration with a large CPU budget, so that walks do not wait for other work on a slow
// machine.
std::string walks_often(const Scene& scene) {
  const std::string path = scene.folder() + "/memoir.toml";
  std::ofstream(path) << "[tmpfs]\ninterval = \"1s\"\n[budget]\ncpu = \"100%\"\n";
  return path;
}

// A SysV segment that is deleted with the object, so that the test leaves no memory behind.
class Segment {
 public:
  explicit Segment(std::int64_t kib)
      : id_(::shmget(IPC_PRIVATE, static_cast<std::size_t>(kib) * 1024, IPC_CREAT | 0600)) {}
  ~Segment() {
    if (id_ >= 0) ::shmctl(id_, IPC_RMID, nullptr);
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  int id() const { return id_; }
  void touch(std::int64_t kib) const {
    void* at = ::shmat(id_, nullptr, 0);
    REQUIRE(at != reinterpret_cast<void*>(-1));  // as shmat(2) specifies
    std::memset(at, 1, static_cast<std::size_t>(kib) * 1024);
    ::shmdt(at);
  }

 private:
  const int id_;
};

json segment_row(const Scene& scene, int shmid) {
  for (const json& row : scene.answer_rows({"shm", "--limit", "0"})) {
    if (row.at("shmid") == shmid) return row;
  }
  FAIL("no segment " << shmid);
  return {};
}

}  // namespace

TEST_CASE("tmpfs: a file that grew is shown with its previous size and its owner") {
  const Scene scene;
  const Tmpfs tmpfs(scene);
  if (tmpfs.mount_point().empty()) {
    WARN("skipped: no writable tmpfs");
    return;
  }
  tmpfs.grow("steady", kKib);
  tmpfs.grow("new\nline", kKib);
  Recorder recorder(scene, "1h", {}, {"--config", walks_often(scene)});
  wait_for(scene, recorder, tmpfs, "new\nline", kKib);
  tmpfs.grow("new\nline", 2 * kKib);
  const json grown = wait_for(scene, recorder, tmpfs, "new\nline", 3 * kKib);
  CHECK(grown.at("allocated_kib") == 3 * kKib);
  CHECK(grown.at("before_kib") == kKib);
  CHECK(grown.at("growth_kib") == 2 * kKib);
  CHECK(grown.at("kind") == "file");
  const json steady = wait_for(scene, recorder, tmpfs, "steady", kKib);
  CHECK(steady.at("growth_kib") == 0);
  CHECK(steady.at("before_kib").is_null());

  const json mounts = scene.answer({"tmpfs"});
  bool listed = false;
  for (const json& row : mounts.at("rows")) {
    if (row.at("mount_point") != tmpfs.mount_point()) continue;
    listed = true;
    CHECK(row.at("used_kib") >= 4 * kKib);
    CHECK(row.at("used_percent").get<double>() > 0);
  }
  CHECK(listed);
  const std::string table = scene.ask({"tmpfs", tmpfs.mount_point()}).out;
  CHECK(contains(table, "new\\nline"));
  const json memory = scene.answer({"memory"});
  for (const json& line : memory.at("outside")) {
    if (line.at("name") == "tmpfs_allocated") CHECK(line.at("kib") >= 4 * kKib);
  }
}

TEST_CASE("shm: a segment without attached processes, with its creator and growth") {
  const Scene scene;
  const Segment segment(2 * kKib);
  if (segment.id() < 0) {
    WARN("skipped: no segment can be created");
    return;
  }
  segment.touch(kKib);
  Recorder recorder(scene);
  recorder.tick();
  const json first = segment_row(scene, segment.id());
  CHECK(first.at("held_kib") == kKib);
  CHECK(first.at("size_kib") == 2 * kKib);
  CHECK(first.at("attachments") == 0);
  CHECK(first.at("creator_pid") == getpid());
  CHECK(first.at("last_pid") == getpid());
  CHECK(first.at("creator_command").is_string());
  CHECK(first.at("detached_ms").is_number());
  CHECK(first.at("removed") == false);
  segment.touch(2 * kKib);
  recorder.tick();
  const json grown = segment_row(scene, segment.id());
  CHECK(grown.at("growth_kib") == kKib);
  CHECK(grown.at("first_ms") == first.at("first_ms"));
  CHECK(scene.answer({"shm"}).at("totals").at("unattached") >= 1);
  bool listed = false;
  for (const json& row : scene.answer_rows({"objects", "--ownerless", "--limit", "0"})) {
    if (row.at("kind") != "SysV segment" || row.at("name") != std::to_string(segment.id())) continue;
    listed = true;
    CHECK(row.at("held_kib") == 2 * kKib);
    CHECK(row.at("growth_kib") == kKib);
    CHECK(contains(row.at("made_by").get<std::string>(), std::to_string(getpid())));
    CHECK(row.at("left_ms").is_number());
  }
  CHECK(listed);
}
