#pragma once

// Combines the lines of an OOM kill, from "… invoked oom-killer" to "Killed process …". The kernel holds a lock from
// the first to the last, so lines of two kills do not mix, but unrelated lines may appear between them. With many
// kills, the kernel omits the lines of all but the last one; the fields of missing lines stay empty. Processes in a
// report can only forge their own name and their cgroup's. Memory is bounded for any input. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/oom/lines.h"
#include "collect/oom/log_record.h"
#include "model/exit.h"

namespace memoir {

// A kill. Names are valid UTF-8.
struct OomReport {
  std::int32_t pid = 0;  // in the initial PID namespace; id of a thread if the main thread has exited
  std::string comm;
  std::string cgroup = {};  // empty if unknown
  OomDetail detail = {};

  bool operator==(const OomReport&) const = default;
};

class OomReports {
 public:
  explicit OomReports(std::int64_t page_kib) : page_kib_(page_kib) {}

  // Takes records in order. Returns a report after its last record.
  std::optional<OomReport> add(const LogRecord& record);

  // Call it when records are missing, because later lines do not belong to earlier ones.
  void forget();

 private:
  struct Row {
    std::int32_t thread = 0;
    OomTask task;
  };
  struct Lines {
    OomDetail detail;  // all values except those of the victim
    std::string cgroup;
    std::string choice;  // text of the choice line
    std::optional<OomColumns> columns;
    std::vector<Row> largest;  // by RSS; one more than reported, because the victim may be among them
  };

  void add_line(std::string_view line);
  void add_row(const OomRow& row);
  OomReport finish(const OomKill& kill, std::int64_t boot_us);
  void take_choice(const OomKill& kill, OomReport& report);

  std::int64_t page_kib_;
  Lines lines_;  // lines of the next kill
  // Lines that the further victims of memory.oom.group share with the first one; only the kill line is logged for each.
  Lines group_;
  bool in_group_ = false;
  std::int64_t killed_us_ = 0;
};

}  // namespace memoir
