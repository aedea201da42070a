#pragma once

// Reads the OOM kills in the kernel log, with their times on the boot clock. Called by one thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/warn_once.h"
#include "collect/oom/kernel_log.h"
#include "collect/oom/log_clock.h"
#include "collect/oom/oom_reports.h"

namespace memoir {

class OomLog {
 public:
  // Opens the log after its existing records. `restricted`: see KernelLog::open(). `boot_ms` is the current time.
  Status open(const std::string& path, const std::string& restricted, std::int64_t page_kib, std::int64_t boot_ms);

  // Returns whether the log is read: it was opened, and has not failed since.
  bool reads() const { return log_.has_value(); }

  struct Kill {
    std::int64_t boot_ms = 0;
    OomReport report;
  };
  // Replaces `kills` by the kills since the last call. After an error the log is no longer read.
  Status take(std::int64_t boot_ms, std::vector<Kill>& kills);

 private:
  std::optional<KernelLog> log_;
  OomReports reports_{4};
  LogClock clock_;
  std::int64_t since_ms_ = 0;  // all records written before this time have been read
  WarnOnce lost_;
};

}  // namespace memoir
