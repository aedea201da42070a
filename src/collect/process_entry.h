#pragma once

// What the collector keeps of a live process between ticks.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collect/cadence.h"
#include "collect/kept_file.h"
#include "collect/read_jobs.h"
#include "model/process.h"

namespace memoir {

// What status shows to have changed since the tick before.
struct StatusChange {
  bool comm = false;       // by exec, or by prctl(PR_SET_NAME)
  bool code_size = false;  // VmExe is set by exec
  bool peak_fell = false;  // VmPeak never falls within one memory: proof of another one
  bool uid = false;

  // It may run another program image.
  bool suspicious() const { return comm || code_size || peak_fell; }
};

struct ProcessEntry {
  ProcessEntry(std::int32_t process, std::uint64_t start, DescriptorBudget& descriptors)
      : pid(process), start_ticks(start), budget(&descriptors), status(descriptors) {}
  ~ProcessEntry() { close_rollup(); }
  ProcessEntry(const ProcessEntry&) = delete;
  ProcessEntry& operator=(const ProcessEntry&) = delete;

  // Gives the rollup's descriptor back. Not while its job is held.
  void close_rollup() {
    if (!rollup_slot) return;
    if (!rollup->held()) rollup->close();
    budget->give();
    rollup_slot = false;
  }

  bool identity_held() const { return identity != nullptr && identity->held(); }

  std::int32_t pid;
  std::uint64_t start_ticks;
  DescriptorBudget* budget;

  KeptFile status;
  std::shared_ptr<RollupJob> rollup;
  bool rollup_slot = false;  // a slot of the budget is taken for it
  std::shared_ptr<IdentityJob> identity;

  std::string name;  // Name of status, as escaped there
  std::uint32_t uid = 0;
  ProcessInfo info;
  ProcessSample sample;
  std::size_t category = 0;  // slot in the totals

  bool fresh = true;         // born in this tick
  bool identity_due = true;  // to be read (again) as soon as it can be
  bool user_due = true;      // its name is not known yet
  bool changed = false;      // `info` is to be told again
  bool denied = false;       // its rollup, when it was asked for last

  // After a read that overstayed its time, none until then (boot clock); each further time for longer.
  std::int64_t left_out_until_ms = 0;
  std::int64_t leave_out_ms = 0;

  // Of this tick.
  ReadPlan plan;
  StatusChange change;
  bool rollup_asked = false;
  bool execed = false;
  bool blocked = false;  // a read did not come back, or was left out for that
  bool lost = false;     // found to be gone after its status was read
};

}  // namespace memoir
