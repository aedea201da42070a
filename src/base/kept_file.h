#pragma once

// Files of /proc/PID and of cgroups that are kept open between ticks, as long as the budget of descriptors lasts:
// reading one again with pread costs half to a tenth of opening it each time. A kept descriptor is safe against a
// reused pid or name: it answers ESRCH when its own process is gone, ENODEV when its cgroup is.

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// How many descriptors may be kept. Everything that keeps one takes a slot first and gives it back.
class DescriptorBudget {
 public:
  explicit DescriptorBudget(std::size_t limit) : limit_(limit) {}

  bool take() {
    if (used_ >= limit_) return false;
    ++used_;
    return true;
  }
  void give() { --used_; }

 private:
  const std::size_t limit_;
  std::size_t used_ = 0;
};

// Raises RLIMIT_NOFILE to its hard limit and returns how many descriptors may be kept: the limit less a reserve for the
// store, the log, the worker and libraries.
std::size_t raise_descriptor_limit();

class KeptFile {
 public:
  explicit KeptFile(DescriptorBudget& budget) : budget_(&budget) {}
  ~KeptFile() { close(); }
  KeptFile(KeptFile&&) noexcept = default;
  KeptFile& operator=(KeptFile&& other) noexcept;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  // The file's text, a view into `buffer`. Where it is not open, `open` opens it: a Result<Fd>().
  template <typename Open>
  Result<std::string_view> read(Open&& open, Buffer& buffer) {
    if (kept()) return read_all(fd_, buffer, "a kept file");
    Fd opened = TRY(open());
    Result<std::string_view> text = read_all(opened, buffer, "a file");
    if (text && budget_->take()) fd_ = std::move(opened);
    return text;
  }
  // Whether it stays open between reads: then it is surely still the same process's.
  bool kept() const { return fd_.valid(); }
  const Fd& descriptor() const { return fd_; }
  void close();

 private:
  DescriptorBudget* budget_;
  Fd fd_;  // valid: a slot of the budget is taken
};

}  // namespace memoir
