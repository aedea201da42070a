#pragma once

// What a recorder says that may not do all.

#include <fmt/format.h>
#include <string>

namespace memoir {

inline constexpr const char* kNoRollups =
    "smaps_rollup of other users' processes is not permitted, so their RSS stands in for PSS: give memoird "
    "CAP_SYS_PTRACE, or CAP_PERFMON on Linux 6.15 and newer.";
inline constexpr const char* kNoPressure =
    "There is no /proc/pressure/memory: the kernel has no pressure stall information, or wants psi=1 at boot.";
inline constexpr const char* kHidden = "/proc hides other users' processes (hidepid): only one's own are recorded.";

// Beside it: what is seen by BPF alone.
inline constexpr const char* kNoSignalsEither =
    " Whom a killer in user space (systemd-oomd, earlyoom, nohang, oomd) kills is not told.";

inline std::string no_census(const std::string& why) {
  return fmt::format(
      "Processes are not counted by BPF ({}): /proc/PID/statm of each is read instead, which costs some four times as "
      "much. States, threads, peaks and swap that move without it are seen two minutes later, and processes that come "
      "and go between two ticks not at all.{}",
      why, kNoSignalsEither);
}

inline std::string no_events(const std::string& why) {
  return fmt::format("Births, execs and ends of processes are not told by BPF ({}): they are seen from tick to tick.{}",
                     why, kNoSignalsEither);
}

inline std::string no_signals(const std::string& why) {
  if (why.empty()) return {};
  return fmt::format("Signals are not told by BPF ({}).{}", why, kNoSignalsEither);
}

inline std::string no_log(const std::string& why) {
  return fmt::format(
      "The kernel's log is not read ({}): of those that the OOM killer chooses it is not known which limit was "
      "reached, "
      "and who else was there.",
      why);
}

}  // namespace memoir
