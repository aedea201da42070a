#pragma once

// memoir process: one page about one process. process.cpp finds it and loads its data; page.cpp makes the report.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/exit.h"
#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// Usage of a process over a part of its history.
struct PastUse {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;
  std::optional<std::int64_t> pss_mean_kib;
  std::optional<std::int64_t> pss_max_kib;
  std::optional<std::int64_t> rss_max_kib;
  std::optional<std::int64_t> swap_mean_kib;
};

struct ProcessPage {
  StoredProcess process;                    // the image that ran at the queried time
  std::vector<StoredProcess> images;        // programs that this process ran up to that time, in order
  std::vector<std::string> other_lives;     // other processes with the same pid, as subjects
  State state;                              // state at the queried time, or when the process was last sampled
  const ProcessUse* use = nullptr;          // in `state`; nullptr: not sampled then
  std::optional<StoredProcess> parent;      // nullopt: unknown
  std::optional<ExitRecord> exit;           // exit reported by the kernel; nullopt: none
  std::vector<HighWater> marks;             // high-water marks of its whole life
  std::vector<PastUse> history;             // past usage, in time order; empty: none was recorded
  Tier tier = {};                           // resolution of the history
  std::optional<ProcessMappings> mappings;  // nullopt: not read, or the ticks have expired
  std::string container;                    // the container's label, and its name if known; empty: no container

  // Returns the sample of a tick; nullptr if there are only means of a bucket, or no values.
  const ProcessSample* sample() const { return use == nullptr ? nullptr : use->sample; }
  std::int32_t parent_pid() const;
  bool has_exited() const { return !process.exit_kind.empty(); }
  std::int64_t exited_ms() const;
};

Result<Report> process_report(const Context& context, const ProcessPage& page);
// Returns a report without rows, for a time at which nothing was recorded.
Report empty_process_report(const Context& context);

}  // namespace memoir::query
