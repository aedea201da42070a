#pragma once

// The only door to /proc. Its root is a parameter, so that a test can build a tree of its own. It hands out texts and
// descriptors; understanding them is the parsers' part. Safe from several threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "model/machine.h"

namespace memoir {

// Files of a process (exe and cwd are links), and of the machine; beside each list their names below the root, at the
// same places.
enum class PidFile : std::uint8_t { stat, statm, status, smaps_rollup, smaps, cmdline, cgroup, exe, cwd };
inline constexpr std::array kPidFiles{"stat",    "statm",  "status", "smaps_rollup", "smaps",
                                      "cmdline", "cgroup", "exe",    "cwd"};
static_assert(kPidFiles.size() == static_cast<std::size_t>(PidFile::cwd) + 1);

enum class SystemFile : std::uint8_t {
  meminfo,
  vmstat,
  pressure_memory,
  boot_id,
  sysvipc_shm,
  mountinfo,  // the recorder's own
};
inline constexpr std::array kSystemFiles{"meminfo",     "vmstat",        "pressure/memory", "sys/kernel/random/boot_id",
                                         "sysvipc/shm", "self/mountinfo"};
static_assert(kSystemFiles.size() == static_cast<std::size_t>(SystemFile::mountinfo) + 1);

// What is known of a boot without /proc: all but its id.
Result<BootInfo> this_machine(const Moment& now);

class ProcFs {
 public:
  explicit ProcFs(std::string root = "/proc") : root_(std::move(root)) {}

  const std::string& root() const { return root_; }

  std::string path(std::int32_t pid, PidFile file) const;
  std::string path(SystemFile file) const;

  // The numeric entries of the root, ascending, into `pids`.
  Status list(std::vector<std::int32_t>& pids) const;

  Result<Fd> open(std::int32_t pid, PidFile file) const { return open_file(path(pid, file)); }
  Result<Fd> open(SystemFile file) const { return open_file(path(file)); }

  // A trigger on pressure/memory (Documentation/accounting/psi.rst): the descriptor has POLLPRI, at most once in a
  // window, when some process waited for memory for `stall_us` of the last `window_us`. It holds for as long as it is
  // open.
  Result<Fd> open_pressure_trigger(std::int64_t stall_us, std::int64_t window_us) const;

  // boot_id; host and kernel by uname(2); the time of the boot from the two clocks, for btime of /proc/stat has whole
  // seconds only.
  Result<BootInfo> boot(const Moment& now) const;

 private:
  std::string root_;
};

}  // namespace memoir
