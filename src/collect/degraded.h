#pragma once

// Messages for degraded modes.

#include <fmt/format.h>
#include <string>

namespace memoir {

inline constexpr const char* kNoRollups =
    "smaps_rollup of other users' processes is not permitted, so RSS replaces their PSS: give memoird "
    "CAP_SYS_PTRACE, or CAP_PERFMON on Linux 6.15 and newer.";
inline constexpr const char* kNoRollupFile =
    "There is no smaps_rollup (gVisor, Linux before 4.14): RSS replaces PSS, and USS is unknown.";
inline constexpr const char* kNoPressure =
    "There is no /proc/pressure/memory: the kernel has no pressure stall information, or needs psi=1 at boot.";
inline constexpr const char* kHidden =
    "/proc hides other users' processes (hidepid): only processes of the recorder's user are recorded.";

inline constexpr const char* kForeignCgroups =
    "The mounted cgroups start above the recorder's cgroup namespace. The cgroup of a process is therefore unknown, "
    "and the memory of cgroups is not read. Mount them within the namespace, or run memoird outside of it.";

// Added to the messages if the missing feature needs BPF.
inline constexpr const char* kNoSignalsEither =
    " Kills by user-space killers (systemd-oomd, earlyoom, nohang, oomd) are not reported.";

inline std::string no_census(const std::string& why) {
  return fmt::format(
      "BPF does not count processes ({}): /proc/PID/statm of each is read instead, at about four times the cost. "
      "States, threads, peaks and swap may be up to two minutes old, and processes that run only between two "
      "ticks are not recorded.{}",
      why, kNoSignalsEither);
}

inline std::string no_events(const std::string& why) {
  return fmt::format("BPF does not report starts, execs and exits of processes ({}): only ticks detect them.{}", why,
                     kNoSignalsEither);
}

inline std::string no_signals(const std::string& why) {
  if (why.empty()) return {};
  return fmt::format("BPF does not report signals ({}).{}", why, kNoSignalsEither);
}

inline std::string no_log(const std::string& why) {
  return fmt::format("The kernel's log is not read ({}): the limit and the other candidates of OOM kills are unknown.",
                     why);
}

}  // namespace memoir
