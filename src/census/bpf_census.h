#pragma once

// By BPF: a walk over the list of processes gives all that /proc/PID/status has of memory, some 0.2 µs a process (three
// times that once a second, when nothing of it is in the processor's caches); before Linux 6.7, and of very many
// processes, one read of an iterator over all tasks, which takes twice as long. And what happens to processes goes
// through a ring buffer. Kernel 5.8 and newer with BTF; CAP_BPF and CAP_PERFMON. The per-CPU parts of counters are
// summed, so that they are exact where status is not.

#include "census/census.h"

namespace memoir {

// Not tested yet (find_by_bpf does that). An error names what is missing. Also where Memoir was built without it
// (MEMOIR_BPF).
FoundByBpf open_by_bpf();

}  // namespace memoir
