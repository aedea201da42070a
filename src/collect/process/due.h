#pragma once

// Decides which files of a process are due in a tick. Pure.

#include <cstdint>
#include <optional>

#include "model/process.h"

namespace memoir {

// Returns whether the smaps_rollup of a process may be read in this tick. `last` is its sample in the previous tick,
// nullptr for a new process. A denied rollup is tried again at keyframes; the caller also retries one that may have
// become another process.
bool rollup_due(bool keyframe, const ProcessSample* last, bool denied);

// Returns whether to read the status of a process again although a /proc census found no change: its state, threads,
// name, user, peaks and swap change without statm. Due every two minutes of the boot clock, spread over the processes.
// `read_ms`: the time of the last reading.
bool status_due(std::int32_t pid, std::optional<std::int64_t> read_ms, std::int64_t now_ms);

}  // namespace memoir
