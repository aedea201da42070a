// Tests of real process events, which need permission to use BPF.

#include "census/events.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <linux/capability.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/file.h"
#include "census/bpf_census.h"
#include "support/catch.h"
#include "support/open_here.h"
#include "support/sanitized.h"

namespace memoir::test {
namespace {

using Kind = ProcessEventKind;

std::unique_ptr<ProcessEvents> events_or_notice() {
  auto events = open_here().events;
  if (!events) WARN("not run: " << events.error().message);
  return events ? *std::move(events) : nullptr;
}

std::vector<ProcessEvent> take_all(ProcessEvents& events) {
  std::vector<ProcessEvent> all;
  const auto lost = events.take(all);
  if (!lost) FAIL(lost.error().message);
  return all;
}

std::vector<Kind> kinds_of(const std::vector<ProcessEvent>& all, std::int32_t pid) {
  std::vector<Kind> kinds;
  for (const ProcessEvent& event : all) {
    if (event.pid == pid) kinds.push_back(event.kind);
  }
  return kinds;
}

template <typename Body>
pid_t run_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) body();
  ::waitpid(child, nullptr, 0);
  return child;
}

// Starts a child that shares its parent's memory and exits at once. fork() would be slow under a sanitizer, because it
// copies the page tables of the shadow memory.
void run_brief_child() {
  const pid_t child = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
}

// Forks a child that calls `begin` and then waits to be killed. Returns after `begin`.
template <typename Begin>
pid_t fork_held(Begin begin) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Fd ready(ends[0]);
  Fd begun(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // Catch has a handler
    if (!begin() || ::write(begun.get(), "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  begun.reset();
  char text = 0;
  REQUIRE(::read(ready.get(), &text, 1) == 1);
  return child;
}

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0;
}

}  // namespace

TEST_CASE("events: the self-test passes") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  const Status tested = verify_events(*events, ProcFs());
  INFO((tested ? "" : tested.error().message));
  CHECK(tested.ok());
}

TEST_CASE("events: a child that execs and exits, in order, and no threads") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  take_all(*events);
  const pid_t child = run_child([] {
    ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
    ::_exit(1);
  });
  const pid_t threads = run_child([] {
    std::thread([] {}).join();
    ::_exit(0);
  });
  const auto all = take_all(*events);
  CHECK(kinds_of(all, child) == std::vector{Kind::forked, Kind::execed, Kind::exited});
  CHECK(kinds_of(all, threads) == std::vector{Kind::forked, Kind::exited});
  const auto end = std::ranges::find_if(
      all, [&](const ProcessEvent& event) { return event.pid == child && event.kind == Kind::exited; });
  REQUIRE(end != all.end());
  CHECK(end->parent_pid == ::getpid());
  CHECK(WEXITSTATUS(end->exit_code) == 7);
  CHECK(end->comm == "sh");
  CHECK(end->peak_kib > 0);
  CHECK(take_all(*events).size() < all.size() + 1000);
}

TEST_CASE("events: a killed child has its signal") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  const pid_t child = run_child([] { ::raise(SIGKILL); });
  for (const ProcessEvent& event : take_all(*events)) {
    if (event.pid == child && event.kind == Kind::exited) CHECK(WTERMSIG(event.exit_code) == SIGKILL);
  }
}

TEST_CASE("events: a full ring buffer counts lost events, and reading continues") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  for (int i = 0; i < 3'500; ++i) run_brief_child();
  std::vector<ProcessEvent> all;
  const auto lost = events->take(all);
  REQUIRE(lost.ok());
  CHECK(*lost > 0);
  CHECK(all.size() + *lost >= 7'000);
  const pid_t child = run_child([] { ::_exit(0); });
  const auto more = events->take(all);
  REQUIRE(more.ok());
  CHECK(*more == 0);
  CHECK(kinds_of(all, child).size() == 2);
}

TEST_CASE("events: a waiting reader is woken after many events, and not before") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  const Fd watch(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  take_all(*events);
  REQUIRE(::epoll_ctl(watch.get(), EPOLL_CTL_ADD, events->wait_fd(), &event) == 0);
  const auto woken = [&](int timeout_ms) { return ::epoll_wait(watch.get(), &event, 1, timeout_ms) == 1; };
  for (int i = 0; i < 2 && woken(0); ++i) continue;  // drain events from before the watch
  run_child([] { ::_exit(0); });
  CHECK_FALSE(woken(0));
  for (int i = 0; i < 1'000; ++i) run_brief_child();
  CHECK(woken(10'000));
}

TEST_CASE("events: a child that shares its parent's memory is reported as such, with its user and cgroup") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  take_all(*events);
  const pid_t own = run_child([] { ::_exit(0); });
  const pid_t shared = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): this is under test
  if (shared == 0) ::_exit(0);
  ::waitpid(shared, nullptr, 0);
  int checked = 0;
  for (const ProcessEvent& event : take_all(*events)) {
    if (event.pid != own && event.pid != shared) continue;
    ++checked;
    if (event.kind == Kind::forked) CHECK(event.shares_memory == (event.pid == shared && !kThreadsSanitized));
    if (event.kind != Kind::exited) continue;
    CHECK(event.uid == ::getuid());
    CHECK((event.cgroup_id != 0 || event.memory_cgroup_id != 0));
    if (event.held) CHECK(event.held->anon_kib > 0);
  }
  CHECK(checked == 4);
}

TEST_CASE("events: signals of a user-space killer have the victim's memory, and no other signals are reported") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  CHECK(events->no_signals().empty());
  if (::geteuid() != 0) {
    WARN("not run: a killer needs CAP_KILL");
    return;
  }
  struct Case {
    const char* killer;
    int signal;
    bool privileged;
    bool is_reported;
  };
  const Case of = GENERATE(Case{"earlyoom", SIGTERM, true, true}, Case{"systemd-oomd", SIGKILL, true, true},
                           Case{"nohang", SIGKILL, true, true}, Case{"oomd", SIGTERM, true, true},
                           Case{"earlyoom", SIGUSR1, true, false}, Case{"earlyoo", SIGKILL, true, false},
                           Case{"earlyoom2", SIGKILL, true, false}, Case{"earlyoom", SIGKILL, false, false});
  CAPTURE(of.killer, of.signal, of.privileged);
  constexpr std::size_t bytes = 16 * 1024 * 1024;
  const pid_t victim = fork_held([] {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return memory != MAP_FAILED;
  });
  take_all(*events);
  const pid_t killer = run_child([&] {
    ::prctl(PR_SET_NAME, of.killer);
    ::_exit((of.privileged || drop_capabilities()) && ::kill(victim, of.signal) == 0 ? 0 : 1);
  });
  int status = 0;
  REQUIRE(::waitpid(victim, &status, 0) == victim);
  CHECK(WTERMSIG(status) == of.signal);
  std::size_t reported = 0;
  for (const ProcessEvent& event : take_all(*events)) {
    if (event.kind != Kind::signalled || event.pid != victim) continue;
    ++reported;
    CHECK(event.killer == OomKiller{of.killer, killer, of.signal});
    CHECK(event.start_ticks > 0);
    REQUIRE(event.held);
    CHECK(event.held->anon_kib >= static_cast<std::int64_t>(bytes / 1024));
    // Under a sanitizer, memory freed by the BPF loader stays allocated for a while, and a fork inherits it.
    if (!kSanitized) CHECK(event.held->anon_kib < static_cast<std::int64_t>(bytes / 1024 * 4));
  }
  CHECK(reported == (of.is_reported ? 1 : 0));
}

TEST_CASE("events: opening events needs a privilege, reading them does not") {
  const auto events = events_or_notice();
  if (events == nullptr) return;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0 || !drop_capabilities()) ::_exit(2);
    const pid_t grandchild = run_child([] { ::_exit(0); });
    std::vector<ProcessEvent> all;
    if (!events->take(all)) ::_exit(3);
    if (kinds_of(all, grandchild).size() != 2) ::_exit(4);
    const auto other = open_by_bpf().events;
    const bool says_why = !other && other.error().message.find("CAP_BPF") != std::string::npos;
    ::_exit(says_why ? 0 : 5);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace memoir::test
