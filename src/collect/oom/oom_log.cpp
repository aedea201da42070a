#include "collect/oom/oom_log.h"

#include <fmt/format.h>
#include <utility>

namespace memoir {

Status OomLog::open(const std::string& path, const std::string& restricted, std::int64_t page_kib,
                    std::int64_t boot_ms) {
  log_ = TRY(KernelLog::open(path, restricted));
  reports_ = OomReports(page_kib);
  since_ms_ = boot_ms;
  return Done{};
}

Status OomLog::take(std::int64_t boot_ms, std::vector<Kill>& kills) {
  kills.clear();
  if (!log_) return Done{};
  const auto taken = log_->read([&](const LogRecord& record, bool lost) {
    if (lost) reports_.forget();
    const std::int64_t at_ms = clock_.boot_ms(record.boot_us, since_ms_, boot_ms);
    if (auto report = reports_.add(record)) kills.push_back({at_ms, *std::move(report)});
  });
  if (!taken) {
    log_.reset();
    return taken.error();
  }
  if (taken->all) since_ms_ = boot_ms;
  const bool lost = taken->lost > 0;
  lost_.report(lost ? fmt::format("{} records of the kernel's log were overwritten before they were read", taken->lost)
                    : "");
  return Done{};
}

}  // namespace memoir
