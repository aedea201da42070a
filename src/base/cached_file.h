#pragma once

// Keeps files of /proc/PID and of cgroups open between ticks, within a descriptor budget. Reading an open file again
// with pread costs a tenth to half of opening it each time. A reused pid or cgroup name does no harm: a read fails
// with ESRCH after the file's own process exits, and with ENODEV after its cgroup is removed.

#include <atomic>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Limits how many descriptors may be kept. A CachedFile takes a slot before it keeps one, and returns the slot when it
// closes. Any thread may call it.
class DescriptorBudget {
 public:
  explicit DescriptorBudget(std::size_t limit) : limit_(limit) {}

  bool take() {
    if (used_.fetch_add(1) < limit_) return true;
    --used_;
    return false;
  }
  void give() { --used_; }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

// Raises RLIMIT_NOFILE to its hard limit. Returns how many descriptors may be kept: the limit minus a reserve for the
// store, the log, the worker and libraries.
std::size_t raise_descriptor_limit();

class CachedFile {
 public:
  explicit CachedFile(DescriptorBudget& budget) : budget_(&budget) {}
  ~CachedFile() { close(); }
  CachedFile(CachedFile&&) noexcept = default;
  CachedFile& operator=(CachedFile&& other) noexcept;
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;

  // Returns the file's text, a view into `buffer`. If the file is closed, calls `open`, which returns a Result<Fd>.
  template <typename Open>
  Result<std::string_view> read(Open&& open, Buffer& buffer) {
    if (kept()) return read_all(fd_, buffer, "a kept file");
    Fd opened = TRY(open());
    Result<std::string_view> text = read_all(opened, buffer, "a file");
    if (text && budget_->take()) fd_ = std::move(opened);
    return text;
  }
  // Returns whether the file stays open between reads. An open file never changes to that of another process with the
  // same pid.
  bool kept() const { return fd_.valid(); }
  const Fd& descriptor() const { return fd_; }
  void close();

 private:
  DescriptorBudget* budget_;
  Fd fd_;  // uses a slot of the budget while valid
};

}  // namespace memoir
