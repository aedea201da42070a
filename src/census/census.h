#pragma once

// The census: the counters of every process at one moment, in one read. By BPF it has all memory fields of
// /proc/PID/status. By /proc it has only the fields of statm, which are enough to find changed processes. Neither has
// PSS.

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

// A process that is not a kernel thread. Values that the kernel lacks are absent from `memory`; a zombie has none.
struct CensusProcess {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::uint32_t uid = 0;  // real uid
  std::int32_t threads = 0;
  std::uint64_t start_ticks = 0;  // as ProcessKey::start_ticks
  char state = '?';               // as ProcessSample::state
  std::string comm;               // any bytes, 15 at most
  ProcessMemory memory;           // the fields of /proc/PID/status
  // Size of the pages of all minor faults so far. Known only by BPF, for a process with one thread. The first write to
  // a page that a fork left shared is a minor fault.
  std::optional<std::int64_t> faulted_kib;

  // False for the census by /proc, which has only pid, start, VmSize, VmRSS and RssAnon. `statm` then has the values as
  // read. While these stay the same, the other memory fields of status hardly change.
  bool whole = true;
  Statm statm;
};

// The values that a scan between two ticks needs of a process with memory.
struct BriefSample {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::int64_t rss_kib = 0;
  std::int64_t anon_kib = 0;
  std::optional<std::int64_t> hwm_kib;  // nullopt for the census by /proc

  bool operator==(const BriefSample&) const = default;
};

BriefSample brief_sample_of(std::int32_t pid, std::uint64_t start_ticks, const ProcessMemory& memory);
// Returns nullopt if the process has no memory.
std::optional<BriefSample> brief_sample_of(const CensusProcess& process);

class Census {
 public:
  virtual ~Census() = default;

  // Replaces `processes` by the processes of this moment, sorted by pid. A missing process may still be running: some
  // sandboxes hide their processes. After an error `processes` is invalid.
  virtual Status read(std::vector<CensusProcess>& processes) = 0;

  // Reads only the values that a scan between two ticks needs. Otherwise like read().
  virtual Status read_brief(std::vector<BriefSample>& samples);

  // Returns "bpf" or "proc", as stored in the database.
  virtual std::string_view name() const = 0;

  // Returns the pids of /proc listed by the last read, ascending, including kernel threads; nullptr if it needed no
  // list.
  virtual const std::vector<std::int32_t>* listed() const { return nullptr; }
};

// Compares the census's values for a child with known memory to those in the kernel's files. The error names the
// difference; the cause may be an unknown kernel, or another pid or time namespace. It forks, so call it before
// starting threads.
Status verify_census(Census& census, const ProcFs& proc);

// The census and the events by BPF. Each is an error with the reason and the remedy, if BPF is not permitted or
// disagrees with /proc.
struct FoundByBpf {
  Result<std::unique_ptr<Census>> census;
  Result<std::unique_ptr<ProcessEvents>> events;
};

// Loads and tests the BPF programs. Then drops CAP_BPF if reads do not need it. Call it before starting threads, which
// would keep the capability.
FoundByBpf probe_bpf(const ProcFs& proc);

// Makes a census that reads statm of each process, which works on every kernel. `budget` must outlive it.
std::unique_ptr<Census> make_proc_census(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget);

}  // namespace memoir
