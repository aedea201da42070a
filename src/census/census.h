#pragma once

// The census: the counters of every process at one moment, in one read. By BPF it has all memory fields of
// /proc/PID/status; by /proc those of statm, which is enough to find changed processes. Neither has PSS.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cached_file.h"
#include "base/result.h"
#include "census/events.h"
#include "model/process.h"
#include "proc/proc_fs.h"
#include "proc/statm.h"

namespace memoir {

// A process; kernel threads are left out. Values that the kernel lacks are absent from `memory`: for a zombie all.
struct CensusProcess {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::uint32_t uid = 0;  // real uid
  std::int32_t threads = 0;
  std::uint64_t start_ticks = 0;  // as ProcessKey::start_ticks
  char state = '?';               // as ProcessSample::state
  std::string comm;               // any bytes, 15 at most
  ProcessMemory memory;           // the fields of /proc/PID/status
  // Pages of minor faults so far, for a process with one thread, by BPF. The first write to a page left shared by a
  // fork is such a fault.
  std::optional<std::int64_t> faulted_kib;

  // False by /proc: then only pid and start, VmSize, VmRSS and RssAnon are known. `statm` is the text read: while it is
  // unchanged, the other memory fields of status have hardly changed.
  bool whole = true;
  Statm statm;
};

// The values of a process with memory that a scan between two ticks needs.
struct BriefSample {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::int64_t rss_kib = 0;
  std::int64_t anon_kib = 0;
  std::optional<std::int64_t> hwm_kib;  // unknown by /proc

  bool operator==(const BriefSample&) const = default;
};

BriefSample brief_sample_of(std::int32_t pid, std::uint64_t start_ticks, const ProcessMemory& memory);
// nullopt if it has no memory.
std::optional<BriefSample> brief_sample_of(const CensusProcess& process);

class Census {
 public:
  virtual ~Census() = default;

  // Reads the processes of this moment, sorted by pid; overwrites those of the previous read. A missing process may
  // still be running: some sandboxes hide theirs. After an error they are invalid.
  virtual Status read(std::vector<CensusProcess>& processes) = 0;

  // The same for a scan between two ticks, which introduces no processes.
  virtual Status read_brief(std::vector<BriefSample>& samples);

  // "bpf", "proc": as stored.
  virtual std::string_view name() const = 0;

  // The pids of /proc listed by the last read, ascending, with kernel threads; nullptr if it needed no list.
  virtual const std::vector<std::int32_t>* listed() const { return nullptr; }

 private:
  std::vector<CensusProcess> processes_;  // by a brief read; reused
};

// Compares the census's values for a child with known memory with the kernel's files. The error names the difference:
// an unknown kernel, another pid or time namespace. Forks: call it before starting threads.
Status verify_census(Census& census, const ProcFs& proc);

// By BPF, if it may be used and agrees with /proc. Otherwise the error contains the reason and the remedy.
struct FoundByBpf {
  Result<std::unique_ptr<Census>> census;
  Result<std::unique_ptr<ProcessEvents>> events;
};

// The capability for loading (CAP_BPF) is dropped if reads do not need it; existing threads would keep it.
FoundByBpf probe_bpf(const ProcFs& proc);

// By statm of each process, which works everywhere. The budget outlives it.
std::unique_ptr<Census> make_proc_census(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget);

}  // namespace memoir
