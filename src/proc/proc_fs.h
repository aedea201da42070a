#pragma once

// The only code that opens files in /proc. Its root is a parameter, so that tests can build their own tree. Returns
// texts and descriptors; parsers interpret them. Thread-safe.

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

// Files of a process (exe, cwd and mount_namespace are links), and of the machine. Each list is followed by the names
// of its files below the root, in the same order.
enum class PidFile : std::uint8_t {
  stat,
  statm,
  status,
  smaps_rollup,
  smaps,
  cmdline,
  cgroup,
  limits,
  oom_score_adj,
  exe,
  cwd,
  mountinfo,
  mount_namespace,
  map_files,  // a folder
};
inline constexpr std::array kPidFiles{"stat",    "statm",     "status", "smaps_rollup",  "smaps",
                                      "cmdline", "cgroup",    "limits", "oom_score_adj", "exe",
                                      "cwd",     "mountinfo", "ns/mnt", "map_files"};
static_assert(kPidFiles.size() == static_cast<std::size_t>(PidFile::map_files) + 1);

enum class SystemFile : std::uint8_t {
  meminfo,
  vmstat,
  pressure_memory,
  zoneinfo,
  boot_id,
  sysvipc_shm,
  mountinfo,        // mounts of the recorder itself
  mount_namespace,  // a link, of the recorder itself
};
inline constexpr std::array kSystemFiles{
    "meminfo",     "vmstat",         "pressure/memory", "zoneinfo", "sys/kernel/random/boot_id",
    "sysvipc/shm", "self/mountinfo", "self/ns/mnt"};
static_assert(kSystemFiles.size() == static_cast<std::size_t>(SystemFile::mount_namespace) + 1);

// Returns the facts about the boot that do not need /proc: everything except its id.
Result<BootInfo> this_machine(const Moment& now);

class ProcFs {
 public:
  explicit ProcFs(std::string root = "/proc") : root_(std::move(root)) {}

  const std::string& root() const { return root_; }

  // Returns the path of a file of the process, or of its thread `thread` if that is not 0.
  std::string path(std::int32_t pid, PidFile file, std::int32_t thread = 0) const;
  std::string path(SystemFile file) const;

  // Lists the numeric entries of the root, ascending, into `pids`.
  Status list(std::vector<std::int32_t>& pids) const { return list(root_, pids); }
  // Lists the threads of a process, ascending, into `threads`.
  Status list_threads(std::int32_t pid, std::vector<std::int32_t>& threads) const;

  Result<Fd> open(std::int32_t pid, PidFile file, std::int32_t thread = 0) const {
    return open_file(path(pid, file, thread));
  }
  Result<Fd> open(SystemFile file) const { return open_file(path(file)); }

  // Opens a trigger on pressure/memory (Documentation/accounting/psi.rst). The descriptor becomes ready (POLLPRI), at
  // most once per window, when some process waited for memory for `stall_us` of the last `window_us`. The trigger stays
  // active while it is open.
  Result<Fd> open_pressure_trigger(std::int64_t stall_us, std::int64_t window_us) const;

  // Returns boot_id, host and kernel by uname(2), and the boot time from the two clocks, because btime of /proc/stat
  // has whole seconds only.
  Result<BootInfo> boot(const Moment& now) const;

 private:
  static Status list(const std::string& folder, std::vector<std::int32_t>& numbers);

  std::string root_;
};

}  // namespace memoir
