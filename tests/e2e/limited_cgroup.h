#pragma once

// A real cgroup with a limit; absent if the test may not create one.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/types.h>
#include <system_error>
#include <unistd.h>

namespace memoir::test {

// A cgroup below the root of the memory controller: v1's if there is one, otherwise v2's.
class LimitedCgroup {
 public:
  explicit LimitedCgroup(std::int64_t kib, const std::string& name = "memoir-test-" + std::to_string(::getpid()))
      : path_("/" + name) {
    folder_ = (v1_ ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") + path_;
    std::error_code error;
    if (!std::filesystem::create_directory(folder_, error)) return;
    made_ = true;
    usable_ = limit(kib);
  }
  ~LimitedCgroup() {
    if (made_) ::rmdir(folder_.c_str());
  }
  LimitedCgroup(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(const LimitedCgroup&) = delete;

  bool usable() const { return usable_; }
  bool has_peak() const {
    return usable_ && std::filesystem::exists(folder_ + (v1_ ? "/memory.max_usage_in_bytes" : "/memory.peak"));
  }
  // Forbids further swapping, if the kernel counts swap.
  void forbid_swap(std::int64_t kib) const {
    write(v1_ ? "memory.memsw.limit_in_bytes" : "memory.swap.max", v1_ ? std::to_string(kib * 1024) : "0");
  }
  const std::string& path() const { return path_; }
  bool limit(std::int64_t kib) const {
    return write(v1_ ? "memory.limit_in_bytes" : "memory.max", std::to_string(kib * 1024));
  }
  bool take(pid_t pid) const { return write("cgroup.procs", std::to_string(pid)); }

 private:
  bool write(const std::string& file, const std::string& text) const {
    std::ofstream out(folder_ + "/" + file);
    return static_cast<bool>(out << text << std::flush);
  }

  const bool v1_ = std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  std::string path_;
  std::string folder_;
  bool made_ = false;
  bool usable_ = false;
};

}  // namespace memoir::test
