#pragma once

// State of the recorder from its file, for status and doctor.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/history/recording.h"
#include "store/activity.h"
#include "store/events.h"
#include "store/reader.h"

namespace memoir::query {

struct RecorderStatus {
  Recording recording = Recording::never;
  std::int64_t now_ms = 0;
  FileInfo file;
  std::vector<StoredRun> runs;           // all runs, the oldest first
  std::optional<StoredTick> tick;        // the last tick
  std::optional<Coverage> day;           // coverage of the last day, or of its recorded part
  TickCosts costs;                       // costs over that day
  std::optional<ReadSummary> reads;      // sources of PSS over that day
  std::optional<ProcessState> itself;    // the recorder's own row in the last tick
  std::vector<Event> degraded;           // degraded features with reasons, since the start of the last run
  std::vector<Event> events;             // other problems within the day
  std::vector<StoredOddLine> odd_lines;  // lines of kernel files that could not be parsed, within the day
  std::optional<RecorderMemory> memory;  // the recorder's memory, as last measured in this run
  std::string holder;                    // process that keeps the recorder from storing; empty if there is none
  std::int64_t recorded_ms = 0;          // recorded time of all runs
  std::int64_t restarts = 0;             // number of restarts within the day
  std::int64_t unclean_ends = 0;         // number of unclean stops within the day
  std::optional<Activity> activity;      // activity of the last day
  std::int64_t bursts = 0;               // number of bursts that started within the day
  std::optional<Event> burst;            // start of the current burst
};

Result<RecorderStatus> find_status(Reader& reader, const FileInfo& file, const std::vector<StoredRun>& runs,
                                   std::int64_t now_ms);

}  // namespace memoir::query
