#pragma once

// A fake /proc as files in a temporary directory.
//
//   test::FakeProc proc;                                 // a machine without processes, boot id and all
//   test::FakeProcess nginx{.pid = 100, .comm = "nginx", .arguments = {"nginx", "-g", "daemon off;"}};
//   nginx.memory = test::memory_of(4096);                // 4 MiB, all private
//   proc.add(nginx);
//   const auto collector = make_proc_source(ProcFs(proc.root()), …);
//
// Cached descriptors behave as with the kernel:
// update()        the same process continues: every file is rewritten in place, so that a cached descriptor reads the
//                 new text
// exec()          another image with the same pid and start: in place, except smaps_rollup and smaps, which are new
//                 files; a cached descriptor of an old one reads nothing
// become_zombie() no memory, arguments or exe; smaps_rollup is deleted, so that a cached descriptor reads nothing
// remove()        all files are deleted; cached descriptors read nothing, which parsers report as not_found (the
//                 kernel returns ESRCH)
// add() after remove()  the pid is reused: all files are new
//
// Errors while building the tree throw. Only one thread changes the tree, between the ticks of the reading thread.

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
  std::vector<std::string> arguments = {};  // contents of /proc/PID/cmdline
  std::string exe = {};                     // target of the link; empty: no link
  std::string cwd = {};
  std::string cgroup = "/";    // v2 path
  bool kernel_thread = false;  // no memory, no arguments, no links, no smaps_rollup
  ProcessMemory memory = {};   // written to status and smaps_rollup: a line for each field that is set
  // If set, the text is the unchanged content of the file.
  std::optional<std::string> stat = {};
  std::optional<std::string> statm = {};
  std::optional<std::string> status = {};
  std::optional<std::string> smaps_rollup = {};
  std::optional<std::string> smaps = {};  // contents of smaps; nullopt: no file
  std::optional<std::string> cmdline = {};
  std::optional<std::string> cgroup_text = {};
};

// Every field of a process with private anonymous memory and `shared_kib` of clean file pages, which one other process
// maps as well. The parts add up.
ProcessMemory memory_of(std::int64_t private_kib, std::int64_t shared_kib = 0);

class FakeProc {
 public:
  static constexpr const char* kBootId = "11111111-2222-3333-4444-555555555555";
  static constexpr std::int64_t kBootMs = 1'700'000'000'345;  // boot time of a clock that was not stepped

  FakeProc();

  const std::string& root() const { return proc_.root(); }
  const ProcFs& proc() const { return proc_; }

  // Processes; see above for the effect on cached descriptors.
  void add(const FakeProcess& process);
  void update(const FakeProcess& process);
  void exec(const FakeProcess& process);
  void become_zombie(FakeProcess process);
  void remove(std::int32_t pid);

  // These replace, delete or deny one file of a process. A denied file has mode 000, which does not affect root (see
  // AsOrdinaryUser), until the next write or update.
  void write(std::int32_t pid, PidFile file, std::string_view text);
  void remove(std::int32_t pid, PidFile file);
  void deny(std::int32_t pid, PidFile file);

  // block() replaces the file by a fifo, so that opening it waits; update() and write() do not change that. unblock()
  // releases the waiting reader (the open succeeds, the read fails) and removes the fifo. Without a waiting reader it
  // does nothing and returns false. Descriptors from before read nothing.
  void block(std::int32_t pid, PidFile file);
  bool unblock(std::int32_t pid, PidFile file);

  // The machine's files. The constructor writes all except sysvipc/shm and self/mountinfo: a machine with 8 GiB of
  // memory, of which 6 GiB are available.
  void write(SystemFile file, std::string_view text);
  void remove(SystemFile file);

 private:
  void write_files(const FakeProcess& process);
  void write_links(const FakeProcess& process);

  TemporaryDirectory directory_;
  ProcFs proc_;
};

// During its lifetime the calling thread and threads that it starts open files with an ordinary user's rights, even if
// the test runs as root. The tree must not be changed during this time.
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
