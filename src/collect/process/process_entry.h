#pragma once

// What the collector keeps of a live process between ticks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/kept_file.h"
#include "base/sorted.h"
#include "collect/between.h"
#include "collect/process/file_jobs.h"
#include "collect/pss/approximation.h"
#include "collect/pss/choice.h"
#include "collect/pss/estimate.h"
#include "model/process.h"
#include "proc/statm.h"

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

  // Puts what is known without reading its rollup into the sample, whose fields of status are those of this tick.
  void stand_in() {
    if (exact && sample.memory.has(ProcessField::vm_rss)) {
      estimate(*exact, related, sample);
    } else {
      approximate(sample);
    }
  }

  // Whether what its cgroups are charged for it is not as it was at the last call.
  bool charge_moved() {
    using F = ProcessField;
    const ProcessMemory& memory = sample.memory;
    const decltype(charged) now{memory.get(F::vm_rss), memory.get(F::rss_anon), memory.get(F::rss_shmem),
                                memory.get(F::vm_swap), memory.get(F::vm_pte)};
    return std::exchange(charged, now) != now;
  }

  // By now, since it was read.
  std::int64_t touched_kib(std::int64_t now_ms) const {
    return memoir::touched_kib(*exact, sample.memory, {related, kin_wrote_kib}, now_ms);
  }

  bool identity_held() const { return identity != nullptr && identity->held(); }

  std::int32_t pid;
  std::uint64_t start_ticks;
  DescriptorBudget* budget;

  KeptFile status;
  std::optional<std::int64_t>
      status_read_ms;          // when it could be read last (boot clock); with a census that is whole: none
  std::optional<Statm> statm;  // as a census that is not whole saw it last
  std::shared_ptr<RollupJob> rollup;
  bool rollup_slot = false;  // a slot of the budget is taken for it
  std::shared_ptr<IdentityJob> identity;

  std::optional<std::int64_t> faulted_kib;  // as a census that counts it saw it last
  std::int64_t wrote_kib = kAnyKib;         // of that since the tick before

  std::string name;  // comm, any bytes
  std::uint32_t uid = 0;
  ProcessInfo info;
  ProcessSample sample;
  std::size_t category = 0;  // slot in the totals

  std::optional<ExactReading> exact;      // of the memory that it has: none before the first, and after an exec
  std::int64_t kin_wrote_kib = kAnyKib;   // since then, as in touched_kib(): see kin.h
  std::optional<std::int64_t> unread_ms;  // since when there is no reading of the memory that it has (boot clock)

  bool fresh = true;         // born in this tick
  bool related = false;      // since the last exact reading, as in estimate(): see kin.h
  bool identity_due = true;  // to be read (again) as soon as it can be
  bool cgroup_due = false;   // as well, in its turn
  bool user_due = true;      // its name is not known yet
  bool changed = false;      // `info` is to be told again
  bool denied = false;       // its rollup, when it was asked for last

  std::unique_ptr<ProcessBetween> between;  // ticks, as looks saw it move; nullptr: they did not

  // After a read that overstayed its time, none until then (boot clock); each further time for longer.
  std::int64_t left_out_until_ms = 0;
  std::int64_t leave_out_ms = 0;

  // Parts of the sample that its cgroups are charged for, as at the tick before.
  std::array<std::optional<std::int64_t>, 5> charged;

  // Of this tick.
  bool rollup_due = true;
  std::size_t pool = Need::kNoPool;  // of siblings that it is in
  StatusChange change;
  bool exec_told = false;  // it ran another image, as the kernel told
  bool rollup_asked = false;
  bool execed = false;
  bool blocked = false;  // a read did not come back, or was left out for that
  bool lost = false;     // found to be gone after its status was read
};

// Sorted by pid.
using Entries = std::vector<std::unique_ptr<ProcessEntry>>;

// nullptr: it is not among them.
inline ProcessEntry* find_entry(const Entries& entries, std::int32_t pid) {
  const auto* const found = find_sorted(entries, pid, [](const auto& entry) { return entry->pid; });
  return found != nullptr ? found->get() : nullptr;
}

}  // namespace memoir
