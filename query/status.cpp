#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands.h"
#include "query/format.h"
#include "query/recording.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kDayMs = 24 * 3600 * std::int64_t{1000};

// All that the answer is made of.
struct Status {
  Recording recording = Recording::never;
  std::int64_t now_ms = 0;
  FileInfo file;
  std::vector<StoredRun> runs;  // in order
  std::optional<StoredTick> tick;
  std::optional<Coverage> day;  // the last day that was recorded
  TickCosts costs;
  std::optional<ProcessState> recorder;  // its own row in the last tick
  std::vector<Event> degraded;           // what does not work, and why, since the last run began
  std::int64_t recorded_ms = 0;          // by all runs
  std::int64_t restarts = 0;             // within the day
  std::int64_t unclean = 0;
};

const StoredRun* last_run(const Status& status) {
  return status.runs.empty() ? nullptr : &status.runs.back();
}

std::int64_t heard_ms(const StoredRun& run) {
  return run.last_tick_ms.value_or(run.started_ms);
}

void count_runs(Status& status, Range day) {
  for (std::size_t index = 0; index < status.runs.size(); ++index) {
    const StoredRun& run = status.runs[index];
    if (run.first_tick_ms) status.recorded_ms += heard_ms(run) - *run.first_tick_ms;
    const bool last = index + 1 == status.runs.size();
    const bool died = run.end_reason == "unclean" || (last && status.recording == Recording::died);
    if (index > 0 && run.started_ms >= day.from_ms) ++status.restarts;
    if (died && heard_ms(run) >= day.from_ms) ++status.unclean;
  }
}

// What the recorder itself holds, as it saw itself in its last tick.
Status find_recorder(Reader& reader, Status& status) = delete;

std::optional<ProcessState> recorder_of(const Snapshot& snapshot) {
  for (const ProcessState& state : snapshot.processes) {
    if (state.process.info.key.pid == snapshot.run.pid) return state;
  }
  return std::nullopt;
}

}  // namespace

}  // namespace memoir::query
