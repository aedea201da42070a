#pragma once

// The only door to the kernel's log, /dev/kmsg. It gives each reader all records in order, and keeps none for one that
// is too slow. A regular file or a fifo of such records does as well. One thread calls it.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "collect/oom/log_record.h"

namespace memoir {

class KernelLog {
 public:
  // Begins behind what is there. `restricted`: the path of kernel.dmesg_restrict, where what is missing is looked up
  // for the message.
  static Result<KernelLog> open(const std::string& path, const std::string& restricted);

  struct Taken {
    bool all = false;        // none waits any more
    std::uint64_t lost = 0;  // overwritten before they were read
  };
  // Hands out the records that wait, at most kMostRecords and those that came with the last of them. `lost`: some are
  // missing before this one. An error is for good.
  using Take = std::function<void(const LogRecord& record, bool lost)>;
  Result<Taken> read(const Take& take);

  static constexpr std::size_t kMostRecords = 4096;

 private:
  KernelLog(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  void hand_out(const Take& take, std::size_t& records, Taken& taken);

  Fd fd_;
  std::string path_;
  Buffer buffer_;
  std::string waiting_;       // of a file: what has no end of its line yet
  bool overwritten_ = false;  // what comes after the record read last
  std::uint64_t next_ = 0;    // sequence
};

}  // namespace memoir
