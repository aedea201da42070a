#include <utility>

#include "collect/oom/log_record.h"
#include "collect/oom/oom_reports.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace memoir::fuzz {
namespace {

void require_text(const std::string& text) {
  require(to_utf8(text) == text, "a name is valid UTF-8");
}

void require_report(const OomReport& report) {
  const OomDetail& detail = report.detail;
  require(report.pid >= 0, "a pid is a natural number");
  require(detail.others.size() <= OomDetail::kMaxTasks, "the table is bounded");
  for (const auto* text : {&report.comm, &report.cgroup, &detail.limit_cgroup, &detail.invoked_by}) {
    require_text(*text);
  }
  std::int64_t above = detail.others.empty() ? 0 : detail.others.front().rss_kib;
  for (const OomTask& task : detail.others) {
    require_text(task.comm);
    require(task.comm.size() <= 4 * 60, "a name is short");
    require(task.pid >= 0 && task.swap_kib >= 0, "a row has natural numbers");
    require(task.rss_kib >= 0 && task.rss_kib <= std::exchange(above, task.rss_kib), "the largest come first");
  }
  for (const auto& kib : {detail.usage_kib, detail.limit_kib, detail.anon_kib, detail.file_kib, detail.shmem_kib}) {
    require(!kib || *kib >= 0, "no size is negative");
  }
}

}  // namespace

void kernel_log(std::string_view text) {
  OomReports of_records(4);
  OomReports of_lines(64);
  while (!text.empty()) {
    const std::string_view line = cut_line(text);
    const auto record = parse_log_record(line);
    if (record) {
      require_inside(record->message, line);
      if (const auto report = of_records.add(*record)) require_report(*report);
    } else {
      require_good(record.error(), line.empty() ? " " : line);
    }
    LogRecord of_line;
    of_line.message = line;
    if (const auto report = of_lines.add(of_line)) require_report(*report);
  }
}

}  // namespace memoir::fuzz
