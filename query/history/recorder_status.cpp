#include "query/history/recorder_status.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "query/args/times.h"
#include "store/events.h"
#include "store/states.h"

namespace memoir::query {

namespace {

std::int64_t heard_ms(const StoredRun& run) {
  return run.last_tick_ms.value_or(run.started_ms);
}

void count_runs(RecorderStatus& status, Range day) {
  for (std::size_t index = 0; index < status.runs.size(); ++index) {
    const StoredRun& run = status.runs[index];
    if (run.first_tick_ms) status.recorded_ms += heard_ms(run) - *run.first_tick_ms;
    const bool last = index + 1 == status.runs.size();
    const bool died = run.stop_reason == "unclean" || (last && status.recording == Recording::died);
    if (index > 0 && run.started_ms >= day.from_ms) ++status.restarts;
    if (died && heard_ms(run) >= day.from_ms) ++status.unclean_ends;
  }
}

// Removes the degraded conditions that the event reports as restored, by their subject.
void take_restored(RecorderStatus& status, const Event& event) {
  const std::string subject = event.text.substr(0, event.text.find(" have been "));
  std::erase_if(status.degraded, [&subject](const Event& before) { return before.text.starts_with(subject); });
}

// Burst events are "Started: REASON" and "Ended …". A burst of an earlier run is over, even if the recorder crashed
// before it could report the end.
void count_burst(RecorderStatus& status, const Event& event, Range day) {
  const bool begins = event.text.starts_with("Started: ");
  if (begins && event.at.wall_ms >= day.from_ms) ++status.bursts;
  const bool live = status.recording == Recording::active && event.at.wall_ms >= status.runs.back().started_ms;
  status.burst = begins && live ? std::optional(event) : std::nullopt;
}

void sort_events(RecorderStatus& status, std::vector<Event> events, Range day) {
  for (Event& event : events) {
    if (event.kind == "burst") count_burst(status, event, day);
    if (event.kind == "degraded") {
      if (event.at.wall_ms >= status.runs.back().started_ms) status.degraded.push_back(std::move(event));
    } else if (event.kind == "restored") {
      take_restored(status, event);
    } else if (event.at.wall_ms >= day.from_ms) {
      status.events.push_back(std::move(event));
    }
  }
}

std::optional<ProcessState> find_pid(const Snapshot& snapshot, std::int32_t pid) {
  for (const ProcessState& state : snapshot.processes) {
    if (state.process.info.key.pid == pid) return state;
  }
  return std::nullopt;
}

Status read_day(Reader& reader, RecorderStatus& status) {
  const Range day{std::max(status.file.last_tick_ms - kDayMs, status.file.first_tick_ms), status.file.last_tick_ms};
  count_runs(status, day);
  const StoredRun& run = status.runs.back();

  status.day = TRY(reader.coverage(day));

  const std::vector<StoredTick> ticks = TRY(reader.ticks(day));
  status.costs = tick_costs(ticks, run.interval_ms);
  status.reads = sum_up_reads(ticks);
  if (!ticks.empty()) status.tick = ticks.back();

  sort_events(status, TRY(load_events(reader, {std::min(day.from_ms, run.started_ms), status.now_ms})), day);
  status.odd_lines = TRY(load_odd_lines(reader, day));
  status.activity = TRY(load_activity(reader, day));

  if (!status.tick) return Done{};
  const Snapshot snapshot = TRY(reader.snapshot(status.tick->id));
  status.itself = find_pid(snapshot, snapshot.run.pid);
  status.memory = TRY(load_recorder_memory(reader, *status.tick));
  if (!status.file.held_by) return Done{};
  if (const auto holder = find_pid(snapshot, *status.file.held_by)) {
    const ProcessInfo& info = holder->process.info;
    status.holder += to_printable(fmt::format(" ({} of {})", info.comm, info.user));
  }
  return Done{};
}

}  // namespace

Result<RecorderStatus> find_status(Reader& reader, const FileInfo& file, const std::vector<StoredRun>& runs,
                                   std::int64_t now_ms) {
  RecorderStatus status;
  status.now_ms = now_ms;
  status.file = file;
  status.runs = runs;
  status.recording = judge_recording(file, runs, now_ms);
  if (file.held_by) status.holder = fmt::format("process {}", *file.held_by);
  if (file.ticks > 0 && !runs.empty()) TRY(read_day(reader, status));
  return status;
}

}  // namespace memoir::query
