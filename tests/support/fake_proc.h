#pragma once

// A fake /proc as files in a temporary directory.
//
//   test::FakeProc proc;                                 // a machine without processes, boot id and all
//   test::FakeProcess nginx{.pid = 100, .comm = "nginx", .arguments = {"nginx", "-g", "daemon off;"}};
//   nginx.memory = test::memory_of(4096);                // 4 MiB, all private
//   proc.add(nginx);
//   const auto collector = make_proc_source(ProcFs(proc.root()), …);
//
// Reads of a cached descriptor, as with the kernel:
//   update()        the same process continues: every file is rewritten in place, a cached descriptor reads the new
// text
//   exec()          another image under the same pid and start: in place, except smaps_rollup and smaps, which are new
//                   files; a cached descriptor of the old ones reads nothing
//   become_zombie() no memory, no arguments, no exe; smaps_rollup is deleted, a cached descriptor reads nothing
//   remove()        all files are deleted; cached descriptors read nothing: not_found to the parsers (ESRCH in the
// kernel)
//   add() after remove()  the pid is reused: new files throughout
//
// Errors while building the tree throw. One thread changes the tree; between the reading thread's ticks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/process.h"
#include "proc/proc_fs.h"
#include "support/temporary_directory.h"

namespace memoir::test {

struct FakeProcess {
  std::int32_t pid = 1;
  std::string comm = "process";  // any bytes; status shows it escaped
  char state = 'S';
  std::int32_t parent_pid = 1;
  std::uint32_t uid = 0;
  std::int32_t threads = 1;
  std::uint64_t start_ticks = 1000;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::vector<std::string> arguments = {};  // of cmdline
  std::string exe = {};                     // target of the link; empty: there is none
  std::string cwd = {};
  std::string cgroup = "/";    // v2 path
  bool kernel_thread = false;  // no memory, no arguments, no links, no smaps_rollup
  ProcessMemory memory = {};   // for status and smaps_rollup: a line for each field present
  // If given, the text is the file's content unchanged.
  std::optional<std::string> stat = {};
  std::optional<std::string> statm = {};
  std::optional<std::string> status = {};
  std::optional<std::string> smaps_rollup = {};
  std::optional<std::string> smaps = {};  // none unless given
  std::optional<std::string> cmdline = {};
  std::optional<std::string> cgroup_text = {};
};

// Every field of a process with private anonymous memory, except `shared_kib` of clean file pages that
// one other process maps too. The parts add up.
ProcessMemory memory_of(std::int64_t private_kib, std::int64_t shared_kib = 0);

class FakeProc {
 public:
  static constexpr const char* kBootId = "11111111-2222-3333-4444-555555555555";
  static constexpr std::int64_t kBootMs = 1'700'000'000'345;  // of a clock that was not stepped

  FakeProc();

  const std::string& root() const { return proc_.root(); }
  const ProcFs& proc() const { return proc_; }

  // Processes. See above for cached descriptors.
  void add(const FakeProcess& process);
  void update(const FakeProcess& process);
  void exec(const FakeProcess& process);
  void become_zombie(FakeProcess process);
  void remove(std::int32_t pid);

  // One file of a process: another text in place; deleted; denied (mode 000, which does not affect root: see
  // AsOrdinaryUser; lifted by the next write or update).
  void write(std::int32_t pid, PidFile file, std::string_view text);
  void remove(std::int32_t pid, PidFile file);
  void deny(std::int32_t pid, PidFile file);

  // block() replaces the file with a fifo: opening it waits. update() and write() leave it so. unblock() releases the
  // waiting reader (the open succeeds, the read fails) and removes the fifo; without a waiting reader it does nothing
  // and returns false. Descriptors from before read nothing.
  void block(std::int32_t pid, PidFile file);
  bool unblock(std::int32_t pid, PidFile file);

  // The machine's files. The constructor writes all of them but sysvipc/shm and self/mountinfo: 8 GiB of memory of
  // which 6 are available.
  void write(SystemFile file, std::string_view text);
  void remove(SystemFile file);

 private:
  void write_files(const FakeProcess& process);
  void write_links(const FakeProcess& process);

  TemporaryDirectory directory_;
  ProcFs proc_;
};

// During its lifetime the calling thread and its new threads open files with an ordinary user's rights, even
// if the test runs as root. Change the tree outside of it.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser();
  ~AsOrdinaryUser();
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;

 private:
  bool changed_ = false;
};

}  // namespace memoir::test
