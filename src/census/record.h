#pragma once

// Converts records of the BPF programs to the values of status, and to events. Pure.

#include "census/bpf_record.h"
#include "census/census.h"
#include "census/events.h"

namespace memoir {

struct KernelUnits {
  std::int64_t page_bytes = 4096;
  std::int64_t ticks_per_second = 100;  // sysconf(_SC_CLK_TCK)

  static KernelUnits of_this_machine();
};

CensusProcess read_record(const census_record& record, const KernelUnits& units);
// Returns nullopt if the process has no memory.
std::optional<BriefSample> read_brief_sample(const census_record& record, const KernelUnits& units);
ProcessEvent read_event(const event_record& record, const KernelUnits& units);
ProcessEvent read_end(const exit_record& record, const KernelUnits& units);
ProcessEvent read_signal(const signal_record& record, const KernelUnits& units);

}  // namespace memoir
