#include "base/spawn.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace memoir {
namespace {

class SpawnPlan {
 public:
  explicit SpawnPlan(const Spawn& what) {
    ::posix_spawn_file_actions_init(&actions_);
    give(what.in, STDIN_FILENO, O_RDONLY);
    give(what.out, STDOUT_FILENO, O_WRONLY);
    give(what.err, STDERR_FILENO, O_WRONLY);
#if __GLIBC_PREREQ(2, 34)
    // The process that started Memoir may have left descriptors open.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setpgroup(&attributes_, what.group);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  Result<pid_t> start(std::vector<std::string>& words, std::vector<std::string>& environment) const {
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, words.front().c_str(), &actions_, &attributes_, pointers(words).data(),
                                    pointers(environment).data());
    if (error != 0) return errno_error(error, "run", words.front());
    return pid;
  }

 private:
  void give(int fd, int as, int mode) {
    if (fd >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions_, fd, as);
    } else {
      ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", mode, 0);
    }
  }
  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    all.reserve(words.size() + 1);
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

constexpr int kLowestNice = 19;
// With more descriptors than FD_SETSIZE, an old program's select(2) writes out of bounds.
constexpr rlim_t kFiles = 1024;

// The argument of sched_setattr(2), which glibc before 2.41 does not declare.
struct Scheduling {
  std::uint32_t size = 48;
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::array<std::uint64_t, 3> deadline{};
};
static_assert(sizeof(Scheduling) == 48);

// Sets a negative oom_score_adj, which a program inherits from the recorder's service, to 0.
void spare_no_more(pid_t pid) {
  Buffer buffer;
  const auto ours = read_file("/proc/self/oom_score_adj", buffer);
  if (!ours || !ours->starts_with('-')) return;
  const std::string path = fmt::format("/proc/{}/oom_score_adj", pid);
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  // Without permission the program keeps the score.
  if (file && ::write(file.get(), "0", 1) < 0) return;
}

// Sets the policy and the nice value by sched_setattr(2). The systemd unit permits no other call for them.
void lower_priority(pid_t pid, bool background) {
  Scheduling scheduling;
  if (background) {
    scheduling.policy = SCHED_BATCH;
    scheduling.nice = kLowestNice;
  } else if (::getpriority(PRIO_PROCESS, 0) >= 0) {
    return;
  }
  ::syscall(SYS_sched_setattr, pid, &scheduling, 0U);
}

void limit_files(pid_t pid) {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0 || limit.rlim_cur <= kFiles) return;
  limit.rlim_cur = kFiles;
  ::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
}

}  // namespace

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error(errno, "make", "a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<pid_t> spawn(Spawn what) {
  const pid_t pid = TRY(SpawnPlan(what).start(what.words, what.environment));
  // These properties are set after the start, because posix_spawn(3) would fail without permission.
  spare_no_more(pid);
  lower_priority(pid, what.background);
  limit_files(pid);
  return pid;
}

std::string format_wait_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? fmt::format("signal {}", WTERMSIG(wait_status))
                                  : fmt::format("exit status {}", WEXITSTATUS(wait_status));
}

}  // namespace memoir
