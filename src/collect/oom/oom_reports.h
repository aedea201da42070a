#pragma once

// Puts the lines of an OOM kill together, from "… invoked oom-killer" to "Killed process …". The kernel holds a lock
// from the first to the last, so that those of two kills do not mix; lines of others may stand between them. Lines that
// are missing (the kernel leaves all but the last out where there are many kills) leave their fields absent. Whoever is
// in the report chose its own name and that of its cgroup, and no other part of it. Bounded, whatever comes. Pure.

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
  std::int32_t pid = 0;  // of the first PID namespace; of a thread, where the process's first has ended
  std::string comm;
  std::string cgroup = {};  // empty: it is not known
  OomDetail detail = {};

  bool operator==(const OomReport&) const = default;
};

class OomReports {
 public:
  explicit OomReports(std::int64_t page_kib) : page_kib_(page_kib) {}

  // In their order. A report, where the record is the last of it.
  std::optional<OomReport> add(const LogRecord& record);

  // Records are missing: what comes next does not belong to what came last.
  void forget();

 private:
  struct Row {
    std::int32_t thread = 0;
    OomTask task;
  };
  struct Lines {
    OomDetail detail;  // without the victim's
    std::string cgroup;
    std::string choice;  // the line
    std::optional<OomColumns> columns;
    std::vector<Row> largest;  // by RSS; one more than is told, for the victim is among them
  };

  void add_line(std::string_view line);
  void add_row(const OomRow& row);
  OomReport finish(const OomKill& kill, std::int64_t boot_us);
  void take_choice(const OomKill& kill, OomReport& report);

  std::int64_t page_kib_;
  Lines lines_;  // of the kill to come
  // With memory.oom.group others are killed after the first, each with a last line of its own.
  Lines group_;
  bool in_group_ = false;
  std::int64_t killed_us_ = 0;
};

}  // namespace memoir
