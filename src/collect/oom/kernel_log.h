#pragma once

// The only code that opens the kernel log, /dev/kmsg. The kernel gives each reader all records in order, but does not
// wait for slow readers. A regular file or a fifo with such records works as well. Called by one thread.

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
  // Opens the log after its existing records. `restricted` is the path of kernel.dmesg_restrict, which may explain a
  // denied access.
  static Result<KernelLog> open(const std::string& path, const std::string& restricted);

  struct Taken {
    bool all = false;        // no further record is waiting
    std::uint64_t lost = 0;  // number of records that were overwritten before they were read
  };
  // Passes on waiting records: up to kMaxRecords, and the remainder of the last read. `lost`: records before this one
  // were lost. An error is permanent.
  using Take = std::function<void(const LogRecord& record, bool lost)>;
  Result<Taken> read(const Take& take);

  static constexpr std::size_t kMaxRecords = 4096;

 private:
  KernelLog(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  void hand_out(const Take& take, std::size_t& records, Taken& taken);

  Fd fd_;
  std::string path_;
  Buffer buffer_;
  std::string waiting_;       // incomplete line of a regular file
  bool overwritten_ = false;  // records after the last one were overwritten
  std::uint64_t next_ = 0;    // expected sequence number of the next record
};

}  // namespace memoir
