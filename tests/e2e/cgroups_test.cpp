// A real cgroup with a limit, where the test may make one.

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;

namespace {

namespace fs = std::filesystem;

// Below the root of the memory controller: v1's, else v2's.
class LimitedCgroup {
 public:
  explicit LimitedCgroup(std::int64_t kib) : path_("/memoir-test-" + std::to_string(::getpid())) {
    const bool v1 = fs::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    folder_ = (v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") + path_;
    std::error_code error;
    if (!fs::create_directory(folder_, error)) return;
    made_ = true;
    usable_ = write(v1 ? "memory.limit_in_bytes" : "memory.max", std::to_string(kib * 1024));
  }
  ~LimitedCgroup() {
    if (made_) ::rmdir(folder_.c_str());
  }
  LimitedCgroup(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(const LimitedCgroup&) = delete;

  bool usable() const { return usable_; }
  const std::string& path() const { return path_; }
  bool take(pid_t pid) const { return write("cgroup.procs", std::to_string(pid)); }

 private:
  bool write(const std::string& file, const std::string& text) const {
    std::ofstream out(folder_ + "/" + file);
    return static_cast<bool>(out << text << std::flush);
  }

  std::string path_;
  std::string folder_;
  bool made_ = false;
  bool usable_ = false;
};

}  // namespace

TEST_CASE("what a cgroup may hold and holds is recorded, page cache apart, and its end") {
  const Scene scene;
  Holder holder(scene.folder());
  const LimitedCgroup cgroup(64 * 1024);
  if (!cgroup.usable() || !cgroup.take(holder.pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  holder.tell("private 16384");
  Recorder recorder(scene);
  recorder.tick();
  const auto column = [&](const std::string& name) {
    return scene.number("SELECT " + name + " FROM cgroup_at WHERE tick_id = (SELECT MAX(id) FROM tick) AND cgroup = '" +
                        cgroup.path() + "'");
  };
  CHECK(column("max_kib") == 64 * 1024);
  CHECK(column("current_kib").value_or(0) >= 16 * 1024);
  CHECK(column("current_kib").value_or(0) < 64 * 1024);
  CHECK(column("file_kib").value_or(-1) >= 0);
  holder.end();
  REQUIRE(recorder.stop() == 0);  // its last tick is a keyframe
  CHECK_FALSE(column("max_kib").has_value());
}
