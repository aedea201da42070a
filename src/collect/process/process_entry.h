#pragma once

// The collector's state of a live process between ticks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cached_file.h"
#include "base/sorted.h"
#include "collect/interval_extremes.h"
#include "collect/process/file_jobs.h"
#include "collect/pss/approximation.h"
#include "collect/pss/estimate.h"
#include "collect/pss/mapper_changes.h"
#include "collect/pss/read_selection.h"
#include "model/process.h"
#include "proc/statm.h"

namespace memoir {

// Changes in status since the previous tick.
struct StatusChange {
  bool comm = false;       // the name changed, by exec or by prctl(PR_SET_NAME)
  bool code_size = false;  // VmExe changed, as after an exec of another program
  bool peak_fell = false;  // VmPeak never falls within one address space: an exec replaced it
  bool uid = false;

  // Returns whether the process may run another program image.
  bool maybe_execed() const { return comm || code_size || peak_fell; }
};

struct ProcessEntry {
  ProcessEntry(std::int32_t process, std::uint64_t start, DescriptorBudget& descriptors)
      : pid(process), start_ticks(start), budget(&descriptors), status(descriptors) {}
  ~ProcessEntry() { close_rollup(); }
  ProcessEntry(const ProcessEntry&) = delete;
  ProcessEntry& operator=(const ProcessEntry&) = delete;

  // Releases the rollup's descriptor slot. The descriptor stays open while its job is stuck.
  void close_rollup() {
    if (!rollup_slot) return;
    if (!rollup->is_stuck()) rollup->close();
    budget->give();
    rollup_slot = false;
  }

  // Sets the sample's memory without reading the rollup, from the last exact reading and this tick's status fields.
  void stand_in() {
    if (exact && sample.memory.has(ProcessField::vm_rss)) {
      estimate(*exact, related, sample);
      if (unconfirmed) doubt();
      doubt_if_changed();
    } else {
      approximate(sample);
    }
  }

  // Turns held values into estimates until the next reading. Call it when a due read is missing, or other processes
  // changed memory that this one maps.
  void doubt() {
    unconfirmed = true;
    if (sample.source == Source::held) sample.source = Source::estimated;
  }

  // Call it after smaps_rollup of this process was read.
  void confirm() {
    related = false;
    unconfirmed = false;
    relatives_wrote_kib = 0;
    others_kib = 0;
    correction_kib = 0;
  }

  // Adds the changes of other processes that mapped or released memory which this process may map too.
  void add_changes_of_others(const MapperChanges& changes) {
    if (!exact) return;
    others_kib = changes.change_kib(shared_uses(sample.memory), exact->at_ms);
    doubt_if_changed();
  }
  // Returns whether other processes changed more than a little of its memory. Includes anonymous memory that it or its
  // relatives copied on write, if that is known.
  bool is_changed_by_others() const {
    const std::int64_t common_kib =
        exact->memory.or_zero(ProcessField::anonymous) - exact->memory.or_zero(ProcessField::pss_anon);
    const std::int64_t copied_kib = relatives_wrote_kib == kAnyKib ? 0 : std::min(relatives_wrote_kib, common_kib);
    return others_kib + copied_kib > slight_kib(sample.memory.or_zero(ProcessField::pss));
  }
  void doubt_if_changed() {
    if (exact && sample.source == Source::held && is_changed_by_others()) sample.source = Source::estimated;
  }

  // Returns whether the memory for which its cgroups are charged has changed since the last call.
  bool charge_moved() {
    const ProcessMemory& memory = sample.memory;
    const decltype(charged) now{memory.get(ProcessField::vm_rss), memory.get(ProcessField::rss_anon),
                                memory.get(ProcessField::rss_shmem), memory.get(ProcessField::vm_swap),
                                memory.get(ProcessField::vm_pte)};
    return std::exchange(charged, now) != now;
  }

  // Returns the memory touched since the last exact reading.
  std::int64_t touched_kib(std::int64_t now_ms) const {
    return memoir::touched_kib(*exact, sample.memory, {related, relatives_wrote_kib}, now_ms) + others_kib;
  }

  // Returns false for a zombie, and for a process that is about to become one: its status has no sizes.
  bool has_memory() const {
    return sample.memory.has(ProcessField::vm_size) || sample.memory.has(ProcessField::vm_rss);
  }
  bool identity_held() const { return identity != nullptr && identity->is_stuck(); }

  std::int32_t pid;
  std::uint64_t start_ticks;
  std::int32_t thread = 0;  // thread whose files are read after the main thread has exited; otherwise 0
  DescriptorBudget* budget;

  CachedFile status;
  std::optional<std::int64_t> status_read_ms;  // last read of status (boot clock); nullopt with a complete census
  std::optional<Statm> statm;                  // last values of a census that is not complete
  std::shared_ptr<RollupJob> rollup;
  bool rollup_slot = false;  // true if the rollup uses a slot of the descriptor budget
  std::shared_ptr<IdentityJob> identity;

  std::optional<std::int64_t> faulted_kib;  // last value of a census that counts page faults
  std::int64_t wrote_kib = kAnyKib;         // change of faulted_kib since the previous tick

  std::string name;  // comm, any bytes
  std::uint32_t uid = kUnknownUid;
  ProcessInfo info;
  ProcessSample sample;
  std::size_t category = 0;  // slot in the totals

  std::optional<ExactReading> exact;           // nullopt before the first exact reading and after an exec
  std::int64_t relatives_wrote_kib = kAnyKib;  // since `exact`: memory that relatives wrote (relatives.h)
  std::int64_t others_kib = 0;                 // since `exact`: PSS that others may have changed (mapper_changes.h)
  std::int64_t correction_kib = 0;  // since `exact`: correction of its share of shared memory (shared_drift.h)
  std::optional<std::int64_t> corrected_kib;  // corrected share of shared memory before this tick's reads
  std::optional<ObservedMapper> mapper;       // mapped memory at the previous tick
  std::optional<std::int64_t> unread_ms;      // time since which its current memory is unread (boot clock)

  bool fresh = true;         // new in this tick
  std::uint32_t family = 0;  // see relatives.h; 0: unknown
  bool related = false;      // may have changed with a relative since `exact`, as in estimate() (relatives.h)
  bool unconfirmed = false;  // doubt() was called since `exact`
  bool identity_due = true;  // read the identity as soon as possible
  bool cgroup_due = false;   // read the cgroup again, in rotation
  bool command_due = false;  // the identity is known, except for the command line
  bool user_due = true;      // the user's name is unknown
  bool changed = false;      // `info` must be reported again
  bool denied = false;       // the last attempt to read its rollup was denied

  std::unique_ptr<ProcessBetween> between;  // extremes at scans since the last tick; nullptr if nothing changed

  // After a slow read, the process is skipped up to this time (boot clock). The duration grows each time.
  std::int64_t left_out_until_ms = 0;
  std::int64_t leave_out_ms = 0;

  // Memory for which its cgroups were charged at the previous tick.
  std::array<std::optional<std::int64_t>, 5> charged;

  // The following members are valid for this tick.
  bool rollup_due = true;
  std::size_t pool = ReadCandidate::kNoPool;  // pool of siblings that it belongs to
  StatusChange change;
  bool has_exec_event = false;  // the kernel reported an exec
  bool rollup_asked = false;
  bool execed = false;
  bool blocked = false;  // a read is stuck, or was skipped because of a stuck or slow one
  bool lost = false;     // exited after its status was read
};

// The processes, sorted by pid.
using Entries = std::vector<std::unique_ptr<ProcessEntry>>;

// Returns nullptr if no entry has this pid.
inline ProcessEntry* find_entry(const Entries& entries, std::int32_t pid) {
  const auto* const found = find_sorted(entries, pid, [](const auto& entry) { return entry->pid; });
  return found != nullptr ? found->get() : nullptr;
}

}  // namespace memoir
