// The parsers on this machine's own /proc, with any kernel and all of its processes.

#include <unistd.h>

#include "proc/cgroup.h"
#include "proc/meminfo.h"
#include "proc/pid_stat.h"
#include "proc/pressure.h"
#include "proc/proc_fs.h"
#include "proc/smaps_rollup.h"
#include "proc/statm.h"
#include "proc/status.h"
#include "proc/vmstat.h"
#include "support/catch.h"

using namespace memoir;
using F = ProcessField;

namespace {

// Returns the text of a running process's file; nullopt if the process has exited or the file is unreadable.
std::optional<std::string> read_live(const ProcFs& proc, std::int32_t pid, PidFile file) {
  Buffer buffer;
  const auto text = read_file(proc.path(pid, file), buffer);
  if (text && !text->empty()) return std::string(*text);
  if (!text) {
    INFO(text.error().message);
    CHECK((text.error().kind == ErrorKind::not_found || text.error().kind == ErrorKind::denied));
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("live: every process's files are parsed, and the parts of its rollup add up") {
  const ProcFs proc;
  std::vector<std::int32_t> pids;
  REQUIRE(proc.list(pids).ok());
  CHECK(std::find(pids.begin(), pids.end(), ::getpid()) != pids.end());
  std::size_t rollups = 0;
  for (const std::int32_t pid : pids) {
    ProcessMemory memory;
    const auto status = read_live(proc, pid, PidFile::status);
    const auto stat = read_live(proc, pid, PidFile::stat);
    const auto statm = read_live(proc, pid, PidFile::statm);
    const auto cgroup = read_live(proc, pid, PidFile::cgroup);
    const auto rollup = read_live(proc, pid, PidFile::smaps_rollup);
    if (status) {
      INFO(*status);
      CHECK(parse_status(*status, memory).ok());
    }
    if (stat) {
      INFO(*stat);
      const auto parsed = parse_pid_stat(*stat);
      CHECK((parsed.ok() && parsed->state));
    }
    if (statm) CHECK(parse_statm(*statm, ::sysconf(_SC_PAGESIZE) / 1024).ok());
    if (cgroup) CHECK(parse_cgroup(*cgroup).ok());
    if (!rollup) continue;
    INFO(*rollup);
    REQUIRE(parse_smaps_rollup(*rollup, memory).ok());
    CHECK(memory.or_zero(F::rss) == memory.or_zero(F::shared_clean) + memory.or_zero(F::shared_dirty) +
                                        memory.or_zero(F::private_clean) + memory.or_zero(F::private_dirty));
    CHECK(memory.or_zero(F::pss) <= memory.or_zero(F::rss));
    ++rollups;
  }
  CHECK(rollups > 0);
}

TEST_CASE("live: the machine's files are parsed") {
  const ProcFs proc;
  Buffer buffer;
  MachineSample sample;
  const auto meminfo = read_file(proc.path(SystemFile::meminfo), buffer);
  REQUIRE(meminfo.ok());
  CHECK(parse_meminfo(*meminfo, sample).ok());
  CHECK(sample.memory.or_zero(MachineField::mem_total) > 0);
  const auto vmstat = read_file(proc.path(SystemFile::vmstat), buffer);
  REQUIRE(vmstat.ok());
  CHECK(parse_vmstat(*vmstat, sample.memory).ok());
  CHECK(sample.memory.or_zero(MachineField::pgfault) > 0);
  const auto pressure = read_file(proc.path(SystemFile::pressure_memory), buffer);
  if (pressure) CHECK(parse_pressure(*pressure, sample.memory).ok());
}
