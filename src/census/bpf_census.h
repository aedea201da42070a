#pragma once

// Census by BPF. A walk over the list of processes gives all memory fields of /proc/PID/status, in about 0.2 µs per
// process. Once a second, when the processor's caches are cold, it takes three times as long. Before Linux 6.7, and
// with very many processes, an iterator over all tasks is read instead, which takes twice as long. Process events go
// through a ring buffer. BPF needs kernel 5.8 with BTF, CAP_BPF and CAP_PERFMON. The BPF programs sum the per-CPU parts
// of counters, so the values are exact even where /proc/PID/status is inexact.

#include "census/census.h"

namespace memoir {

// Loads the programs; probe_bpf() tests them. An error names the missing part, such as MEMOIR_BPF in this build.
FoundByBpf open_by_bpf();

}  // namespace memoir
