#include "base/command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>

#include "base/spawn.h"
#include "support/catch.h"
#include "support/in_child.h"
#include "support/refused_call.h"

using namespace memoir;
using namespace std::chrono_literals;

namespace {

Result<CommandOutput> shell(const std::string& script, const CommandLimits& limits = {}) {
  return run_command("/bin/sh", {"-c", script}, limits);
}

// A process that runs /bin/sleep; killed and reaped at the end.
struct Sleeper {
  explicit Sleeper(bool background)
      : pid(*spawn({.words = {"/bin/sleep", "1000"}, .environment = {}, .background = background})) {}
  ~Sleeper() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  int nice() const { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(pid)); }

  const pid_t pid;
};

}  // namespace

TEST_CASE("a program in the background has the lowest priority, but is run") {
  const Sleeper sleeper(true);
  CHECK(sleeper.nice() == 19);
  CHECK(::sched_getscheduler(sleeper.pid) == SCHED_BATCH);
}

TEST_CASE("a program does not inherit a raised priority, but inherits a lowered one") {
  const int ours = ::getpriority(PRIO_PROCESS, 0);
  CHECK(Sleeper(false).nice() == std::max(ours, 0));
  std::thread lifted([] {  // on Linux the priority belongs to the thread
    if (::setpriority(PRIO_PROCESS, 0, -5) != 0) {
      WARN("skipped: the priority cannot be raised");
      return;
    }
    CHECK(Sleeper(false).nice() == 0);
  });
  lifted.join();
}

TEST_CASE("a program has a soft limit of 1024 files, which it may raise") {
  rlimit ours{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &ours) == 0);
  const Sleeper sleeper(false);
  rlimit its{};
  REQUIRE(::prlimit(sleeper.pid, RLIMIT_NOFILE, nullptr, &its) == 0);
  CHECK(its.rlim_cur == std::min<rlim_t>(ours.rlim_cur, 1024));
  CHECK(its.rlim_max == ours.rlim_max);
}

TEST_CASE("a command's output is kept, and its exit status reported") {
  const auto well = shell("echo out; echo err >&2");
  REQUIRE(well);
  CHECK(well->out == "out\n");
  CHECK(well->problem.empty());
  CHECK(shell("echo why >&2; exit 3")->problem == "exit status 3: why");
  CHECK(shell("kill -9 $$")->problem == "signal 9");
}

TEST_CASE("a command inherits no descriptors, has default signals, and reads end of file") {
  const auto pipe = make_pipe();
  REQUIRE(pipe);
  const auto found = shell("cat; ls /proc/self/fd; grep Sig[BI] /proc/self/status");
  REQUIRE(found);
  CHECK(found->out.starts_with("0\n1\n2\n3\nSigBlk:\t0000000000000000\n"));
}

TEST_CASE("a command that cannot be run, is late or prints too much is an error") {
  CHECK(run_command("/nonexistent", {}, {}).error().kind == ErrorKind::not_found);
  CHECK(shell("sleep 1000", {.time = 50ms}).error().kind == ErrorKind::blocked);
  CHECK(shell("exec >&- 2>&-; sleep 1000", {.time = 50ms}).error().kind == ErrorKind::blocked);
  CHECK(shell("yes", {.bytes = 100}).error().kind == ErrorKind::io);
}

TEST_CASE("a command is stopped on request, even if it has closed its output") {
  for (const std::string script : {"sleep 1000", "exec >&- 2>&-; sleep 1000"}) {
    std::stop_source source;
    std::thread asker([&source] { source.request_stop(); });
    const auto ended = shell(script, {.time = 1h, .stop = source.get_token()});
    asker.join();
    REQUIRE_FALSE(ended);
    CHECK(ended.error().message == "/bin/sh was stopped");
  }
}

TEST_CASE("on kernels without pidfd, too, the exit of a command is awaited") {
  const std::string end = test::in_child([] {
    if (!test::refuse_call(SYS_pidfd_open, 0, 0, 0, ENOSYS)) return std::string("no filter");
    const auto output = shell("exec >&- 2>&-; exit 3", {.time = 1h});
    return output ? output->problem : output.error().message;
  });
  CHECK(end == "exit status 3");
}
