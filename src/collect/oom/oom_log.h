#pragma once

// The OOM kills that the kernel's log tells of, with their times on the boot clock. One thread calls it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/result.h"
#include "collect/oom/kernel_log.h"
#include "collect/oom/log_clock.h"
#include "collect/oom/oom_reports.h"

namespace memoir {

class OomLog {
 public:
  // Begins behind what is there. `restricted`: as of KernelLog::open(). `boot_ms`: now.
  Status open(const std::string& path, const std::string& restricted, std::int64_t page_kib, std::int64_t boot_ms);

  // Whether it is read: it was opened, and did not fail since.
  bool reads() const { return log_.has_value(); }

  struct Kill {
    std::int64_t boot_ms = 0;
    OomReport report;
  };
  // Into `kills`: those since the last time. After an error it is not read any more.
  Status take(std::int64_t boot_ms, std::vector<Kill>& kills);

 private:
  std::optional<KernelLog> log_;
  OomReports reports_{4};
  LogClock clock_;
  std::int64_t since_ms_ = 0;  // what was written before has been read
  Complaint lost_;
};

}  // namespace memoir
