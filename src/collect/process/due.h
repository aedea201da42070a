#pragma once

// Decides which files of a process are due in a tick. Pure.

#include <cstdint>
#include <optional>

#include "model/process.h"

namespace memoir {

// Returns whether the smaps_rollup of a process may be read in this tick. `last` is its sample in the previous tick,
// nullptr for a new process. If the rollup was denied, only keyframes try it again; the caller also retries a process
// that may have exec'd.
bool rollup_due(bool keyframe, const ProcessSample* last, bool denied);

// Returns whether to read the status of a process again although a /proc census found no change: its state, threads,
// name, user, peaks and swap change without statm. This is due every two minutes, spread over the processes. Times are
// on the boot clock; `read_ms` is the time of the last read.
bool status_due(std::int32_t pid, std::optional<std::int64_t> read_ms, std::int64_t now_ms);

}  // namespace memoir
