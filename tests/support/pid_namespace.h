#pragma once

#include <filesystem>

namespace memoir::test {

// Whether pids are those of the machine here (PROC_PID_INIT_INO, include/linux/proc_ns.h). Else BPF tells of processes
// by other pids than their own files and parents do.
inline bool pids_are_the_machines() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error) == "pid:[4026531836]";
}

}  // namespace memoir::test
