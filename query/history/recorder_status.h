#pragma once

// What the file tells of its recorder, for status and doctor.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/history/recording.h"
#include "store/reader.h"

namespace memoir::query {

struct RecorderStatus {
  Recording recording = Recording::never;
  std::int64_t now_ms = 0;
  FileInfo file;
  std::vector<StoredRun> runs;         // in order
  std::optional<StoredTick> tick;      // the last
  std::optional<Coverage> day;         // of the last day that was recorded, or what there is of it
  TickCosts costs;                     // over that day
  std::optional<ReadSummary> reads;    // over that day
  std::optional<ProcessState> itself;  // the recorder's own row in the last tick
  std::vector<Event> degraded;         // what does not work and why, since the last run began
  std::vector<Event> events;           // what else went wrong within the day
  std::string holder;                  // what keeps the recorder from storing; empty if nothing does
  std::int64_t recorded_ms = 0;        // by all runs
  std::int64_t restarts = 0;           // within the day
  std::int64_t unclean_ends = 0;       // within the day
  std::int64_t oom_kills = 0;          // within the day, by the machine's counter
  std::int64_t bursts = 0;             // that began within the day
  std::optional<Event> burst;          // the beginning of the one that goes on
};

// What the file tells of its recorder.
Result<RecorderStatus> find_status(Reader& reader, const FileInfo& file, const std::vector<StoredRun>& runs,
                                   std::int64_t now_ms);

}  // namespace memoir::query
