#pragma once

// The census: the counters of every process at one moment, in one look. By BPF it sees all that /proc/PID/status has of
// memory; by /proc what statm tells, which is enough to see who moved. Neither sees PSS.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept_file.h"
#include "base/result.h"
#include "census/events.h"
#include "model/process.h"
#include "proc/proc_fs.h"
#include "proc/statm.h"

namespace memoir {

// A process, kernel threads left out. What the kernel does not have is absent from `memory`: of a zombie all of it.
struct CensusProcess {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::uint32_t uid = 0;  // real uid
  std::int32_t threads = 0;
  std::uint64_t start_ticks = 0;  // as ProcessKey::start_ticks
  char state = '?';               // as ProcessSample::state
  std::string comm;               // any bytes, 15 at most
  ProcessMemory memory;           // the fields of /proc/PID/status
  // Pages of the minor faults so far, of a process of one thread by BPF: a first write to a page that a fork left
  // shared is one.
  std::optional<std::int64_t> faulted_kib;

  // False, by /proc: known are pid and start, VmSize, VmRSS and RssAnon; no more. `statm` is what was read: as long as
  // it stays the same, the rest of what status tells of memory has hardly moved.
  bool whole = true;
  Statm statm;
};

// What a look between two ticks needs of a process that has memory.
struct Glance {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::int64_t rss_kib = 0;
  std::int64_t anon_kib = 0;
  std::optional<std::int64_t> hwm_kib;  // by /proc: not known

  bool operator==(const Glance&) const = default;
};

Glance glance_of(std::int32_t pid, std::uint64_t start_ticks, const ProcessMemory& memory);
// nothing: it has no memory.
std::optional<Glance> glance_of(const CensusProcess& process);

class Census {
 public:
  virtual ~Census() = default;

  // The processes of this moment, sorted by pid; those of the look before are overwritten. Who is not among them may
  // live all the same: some sandboxes hide theirs. After an error they are of no use.
  virtual Status look(std::vector<CensusProcess>& processes) = 0;

  // The same for a look between two ticks, by which nobody is made known.
  virtual Status glance(std::vector<Glance>& glances);

  // "bpf", "proc": as the store has it.
  virtual std::string_view name() const = 0;

  // What the last look found listed in /proc, ascending, kernel threads too; nullptr: it did without a list.
  virtual const std::vector<std::int32_t>* listed() const { return nullptr; }

 private:
  std::vector<CensusProcess> looked_;  // by a glance; reused
};

// Compares what a census says of a child of ours, which holds known memory, with what the kernel's files say. The error
// names what differs: another kernel than we know, another pid or time namespace. Forks: to be called before there are
// threads.
Status verify_census(Census& census, const ProcFs& proc);

// By BPF, where it may be used, and agrees with /proc. Else the error says why not, and how to fix that.
struct FoundByBpf {
  Result<std::unique_ptr<Census>> census;
  Result<std::unique_ptr<ProcessEvents>> events;
};

// What it took to load it (CAP_BPF) is given up where a look can do without; threads that there are already would keep
// it.
FoundByBpf find_by_bpf(const ProcFs& proc);

// By statm of each process, which works everywhere. The budget outlives it.
std::unique_ptr<Census> make_proc_census(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget);

}  // namespace memoir
