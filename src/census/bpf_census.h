#pragma once

// By BPF: one read of an iterator over all tasks gives all that /proc/PID/status has of memory, some 0.5 µs a process;
// and what happens to processes goes through a ring buffer. Kernel 5.8 and newer with BTF; CAP_BPF and CAP_PERFMON. The
// per-CPU parts of counters are summed, so that they are exact where status is not.

#include <memory>

#include "census/census.h"
#include "census/events.h"

namespace memoir {

// An error names what is missing. Also where Memoir was built without it (MEMOIR_BPF).
Result<std::unique_ptr<Census>> open_bpf_census();
Result<std::unique_ptr<ProcessEvents>> open_bpf_events();

}  // namespace memoir
