#pragma once

// By BPF: one read of an iterator over all tasks gives all that /proc/PID/status has of memory, some 0.5 µs a process
// (four times that once a second, when nothing of it is in the processor's caches: a glance takes a fifth of it);
// and what happens to processes goes through a ring buffer. Kernel 5.8 and newer with BTF; CAP_BPF and CAP_PERFMON. The
// per-CPU parts of counters are summed, so that they are exact where status is not.

#include "census/census.h"

namespace memoir {

// Not tested yet (find_by_bpf does that). An error names what is missing. Also where Memoir was built without it
// (MEMOIR_BPF).
FoundByBpf open_by_bpf();

}  // namespace memoir
