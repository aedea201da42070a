#pragma once

// From records of the BPF programs to what status would say, and to events. Pure.

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
// nothing: it has no memory.
std::optional<Glance> read_glance(const census_record& record, const KernelUnits& units);
ProcessEvent read_event(const event_record& record, const KernelUnits& units);
ProcessEvent read_end(const end_record& record, const KernelUnits& units);
ProcessEvent read_signal(const signal_record& record, const KernelUnits& units);

}  // namespace memoir
