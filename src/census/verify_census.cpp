#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "census/census.h"
#include "proc/pid_stat.h"
#include "proc/status.h"

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::size_t kHeldBytes = 16 * 1024 * 1024;

// A child with known memory, which waits until this object is destroyed.
class HoldingChild {
 public:
  HoldingChild() {
    int ready[2];
    if (::pipe(ready) != 0) return;
    if (::pipe(ends_) == 0) pid_ = ::fork();
    if (pid_ == 0) hold(ready[1]);
    ::close(ready[1]);
    char byte = 0;
    holds_ = pid_ > 0 && ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~HoldingChild() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    if (ends_[0] >= 0) ::close(ends_[0]);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  HoldingChild(const HoldingChild&) = delete;
  HoldingChild& operator=(const HoldingChild&) = delete;

  bool holds() const { return holds_; }
  pid_t pid() const { return pid_; }

 private:
  // Calls only functions that are permitted between fork and exec while other threads run.
  [[noreturn]] void hold(int ready) const {
    ::close(ends_[1]);
    void* const memory = ::mmap(nullptr, kHeldBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) ::_exit(1);
    std::memset(memory, 1, kHeldBytes);
    if (::write(ready, "1", 1) != 1) ::_exit(1);
    ::close(ready);
    char byte = 0;
    ::_exit(::read(ends_[0], &byte, 1) == 0 ? 0 : 1);
  }

  int ends_[2] = {-1, -1};
  pid_t pid_ = -1;
  bool holds_ = false;
};

// Before 6.16 status itself is off by up to max(32, 2 × CPUs) pages for each CPU that a process ran on. Allows for four
// such CPUs.
std::int64_t max_error_kib() {
  const std::int64_t cpus = std::max<std::int64_t>(::sysconf(_SC_NPROCESSORS_CONF), 1);
  return 4 * std::max<std::int64_t>(32, 2 * cpus) * ::sysconf(_SC_PAGESIZE) / 1024;
}

bool is_counter(F field) {
  return field == F::vm_rss || field == F::vm_hwm || field == F::rss_anon || field == F::rss_file ||
         field == F::rss_shmem || field == F::vm_swap;
}

Error differs(std::string_view what, std::int64_t seen, std::int64_t expected) {
  return {ErrorKind::malformed,
          fmt::format("for a test process the census reports {} {}, and /proc reports {}", what, seen, expected)};
}

Status compare_memory(const ProcessMemory& seen, const ProcessMemory& expected) {
  for (std::size_t i = 0; i < ProcessMemory::kCount; ++i) {
    const F field = static_cast<F>(i);
    if (!seen.has(field) || !expected.has(field)) continue;
    const std::int64_t apart = std::abs(seen.or_zero(field) - expected.or_zero(field));
    if (apart > (is_counter(field) ? max_error_kib() : 0))
      return differs(kProcessFields.at(i).key, seen.or_zero(field), expected.or_zero(field));
  }
  return Done{};
}

}  // namespace

Status verify_census(Census& census, const ProcFs& proc) {
  const HoldingChild child;
  if (!child.holds()) return Error{ErrorKind::io, "no process could be started to test the census"};
  std::vector<CensusProcess> processes;
  TRY(census.read(processes));
  Buffer buffer;
  const auto text = TRY(read_file(proc.path(child.pid(), PidFile::status), buffer));
  ProcessMemory expected;
  const StatusHead head = TRY(parse_status(text, expected));
  const std::int32_t parent_pid = head.parent_pid.value_or(0);
  const auto seen = std::ranges::find(processes, child.pid(), &CensusProcess::pid);
  if (seen == processes.end())
    return Error{ErrorKind::not_found,
                 "the census does not find a child process: memoird is in a pid namespace of its own"};
  if (seen->parent_pid != parent_pid) return differs("parent", seen->parent_pid, parent_pid);
  if (seen->uid != head.uid) return differs("user", seen->uid, head.uid.value_or(kUnknownUid));
  if (seen->threads != head.threads) return differs("number of threads", seen->threads, head.threads.value_or(0));
  if (!seen->memory.has(F::vm_rss) || seen->memory.or_zero(F::rss_anon) < static_cast<std::int64_t>(kHeldBytes / 1024))
    return differs("RssAnon", seen->memory.or_zero(F::rss_anon), expected.or_zero(F::rss_anon));
  TRY(compare_memory(seen->memory, expected));
  const PidStat stat = TRY(read_pid_stat(proc, child.pid(), buffer));
  if (seen->start_ticks != stat.start_ticks)
    return differs("start", static_cast<std::int64_t>(seen->start_ticks), static_cast<std::int64_t>(stat.start_ticks));
  std::vector<BriefSample> samples;
  TRY(census.read_brief(samples));
  const auto found = std::ranges::find(samples, child.pid(), &BriefSample::pid);
  if (found == samples.end() || found->start_ticks != stat.start_ticks)
    return Error{ErrorKind::not_found, "the census finds a child process in a full read, but not in a brief sample"};
  ProcessMemory memory;
  memory.set(F::vm_rss, found->rss_kib);
  memory.set(F::rss_anon, found->anon_kib);
  memory.set(F::vm_hwm, found->hwm_kib);
  return compare_memory(memory, expected);
}

}  // namespace memoir
