#pragma once

// Files of /proc/PID that are kept open between ticks, as long as the budget of descriptors lasts: reading one anew
// with pread costs half to a quarter of opening it each time. A kept descriptor is safe against a reused pid: it
// answers ESRCH when its own process is gone.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "proc/proc_fs.h"

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

class KeptFile {
 public:
  KeptFile(PidFile file, DescriptorBudget& budget) : file_(file), budget_(&budget) {}
  ~KeptFile() { close(); }
  KeptFile(KeptFile&&) noexcept = default;
  KeptFile& operator=(KeptFile&& other) noexcept;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  // The file's text, a view into `buffer`. Opens it where it is not open.
  Result<std::string_view> read(const ProcFs& proc, std::int32_t pid, Buffer& buffer);
  // Whether it stays open between reads: then it is surely still the same process's.
  bool kept() const { return fd_.valid(); }
  void close();

 private:
  PidFile file_;
  DescriptorBudget* budget_;
  Fd fd_;  // valid: a slot of the budget is taken
};

}  // namespace memoir
