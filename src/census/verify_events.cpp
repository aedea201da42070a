#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "census/events.h"
#include "proc/pid_stat.h"

namespace memoir {
namespace {

constexpr std::size_t kChildBytes = 8 * 1024 * 1024;
constexpr int kEndsWith = 42;

// Forks a child that uses some memory and exits; it stays a zombie.
Result<pid_t> make_zombie() {
  const pid_t pid = ::fork();
  if (pid < 0) return errno_error(errno, "start", "a child process to test process events");
  if (pid == 0) {
    void* const memory = ::mmap(nullptr, kChildBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) ::_exit(1);
    std::memset(memory, 1, kChildBytes);
    ::_exit(kEndsWith);
  }
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  return pid;
}

// Returns whether the reported peak is at least half of the child's memory. Counters of some kernels are off by up to 4
// MiB.
bool held_it(const ProcessEvent& end) {
  return end.peak_kib.value_or(0) >= static_cast<std::int64_t>(kChildBytes / 1024 / 2);
}

}  // namespace

Status verify_events(ProcessEvents& events, const ProcFs& proc) {
  std::vector<ProcessEvent> received;
  TRY(events.take(received));
  const pid_t child = TRY(make_zombie());
  Buffer buffer;
  const auto stat = read_pid_stat(proc, child, buffer);
  const std::uint64_t start_ticks = stat ? stat->start_ticks : 0;
  ::waitpid(child, nullptr, 0);
  TRY(events.take(received));
  const auto find = [&](ProcessEventKind kind) {
    return std::ranges::find_if(received, [&](const ProcessEvent& event) {
      return event.kind == kind && event.pid == child && event.parent_pid == ::getpid() &&
             event.start_ticks == start_ticks;
    });
  };
  const auto end = find(ProcessEventKind::exited);
  if (find(ProcessEventKind::forked) == received.end() || end == received.end())
    return Error{ErrorKind::not_found, "process events lack a test process"};
  if (!WIFEXITED(end->exit_code) || WEXITSTATUS(end->exit_code) != kEndsWith || !held_it(*end)) {
    return Error{ErrorKind::malformed,
                 fmt::format("process events report exit status {:#x} and a peak of {} KiB for a test process",
                             end->exit_code, end->peak_kib.value_or(0))};
  }
  return Done{};
}

}  // namespace memoir
