// The census and the events if the kernel refuses a necessary call, or if a namespace changes the observed values.
// Each case runs in a child process, which returns its result as text.

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <linux/bpf.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "census/bpf_census.h"
#include "census/census.h"
#include "proc/pid_stat.h"
#include "support/catch.h"
#include "support/in_child.h"
#include "support/refused_call.h"
#include "support/temporary_directory.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

std::ptrdiff_t open_files() {
  std::ptrdiff_t count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// Returns "ok" or the error of the census and of the events, separated by "|". It starts with "leak" if descriptors
// stay open.
std::string find_it() {
  const std::ptrdiff_t before = open_files();
  std::string text;
  {
    const FoundByBpf found = probe_bpf(ProcFs());
    text = found.census ? "ok" : found.census.error().message;
    text += "|" + (found.events ? "ok" : found.events.error().message);
  }
  // libbpf keeps at most one descriptor open, for its probes of kernel features.
  return open_files() > before + 1 ? "leak: " + text : text;
}

void notice(const std::string& why) {
  WARN("not run: " << why);
}

bool runs_here() {
  const std::string found = in_child(find_it);
  if (found != "ok|ok") notice(found);
  return found == "ok|ok";
}

// Makes bpf(2) fail with `error` for this command from now on.
bool refuse(std::uint32_t command, std::uint32_t error) {
  return refuse_call(__NR_bpf, 0, ~0U, command, error);
}

}  // namespace

TEST_CASE("refused: each command of bpf(2) by itself, at every step that uses it") {
  if (!runs_here()) return;
  struct Command {
    std::uint32_t number;
    bool needed;  // the census is impossible without it
  };
  const Command command =
      GENERATE(Command{BPF_MAP_CREATE, true}, Command{BPF_PROG_LOAD, true}, Command{BPF_LINK_CREATE, true},
               Command{BPF_ITER_CREATE, true}, Command{BPF_BTF_LOAD, false}, Command{BPF_OBJ_GET_INFO_BY_FD, false},
               Command{BPF_MAP_LOOKUP_ELEM, false}, Command{BPF_MAP_UPDATE_ELEM, false}, Command{BPF_MAP_FREEZE, false},
               Command{BPF_RAW_TRACEPOINT_OPEN, false}, Command{BPF_BTF_GET_FD_BY_ID, false});
  const auto error = static_cast<std::uint32_t>(GENERATE(EPERM, ENOSYS, EINVAL));
  if (error != EPERM && !test::all_trials()) return;
  CAPTURE(command.number, error);
  const std::string found = in_child([&] { return refuse(command.number, error) ? find_it() : "no filter"; });
  CAPTURE(found);
  if (found == "no filter") return notice("no seccomp filter could be set");
  CHECK_THAT(found, !ContainsSubstring("leak"));
  const std::string census = found.substr(0, found.find('|'));
  if (command.needed) CHECK(census != "ok");
  // An error names the operation and, if a privilege is missing, the capability.
  if (census != "ok") CHECK_THAT(census, ContainsSubstring("BPF"));
  // libbpf replaces the error of these two commands by EINVAL in some places, for example on Linux 6.1.
  const bool renamed = command.number == BPF_OBJ_GET_INFO_BY_FD || command.number == BPF_BTF_GET_FD_BY_ID;
  if (renamed && census == "BPF: Invalid argument") return;
  if (census != "ok" && error == EPERM)
    CHECK_THAT(census, ContainsSubstring("CAP_BPF") || ContainsSubstring("BPF found"));
}

TEST_CASE("refused: calls after loading; the census returns an error instead of wrong values") {
  if (!runs_here()) return;
  const std::string outcome = in_child([]() -> std::string {
    auto census = open_by_bpf().census;
    if (!census) return census.error().message;
    std::vector<CensusProcess> seen;
    if (!(*census)->read(seen)) return "no look";
    if (!refuse(BPF_PROG_TEST_RUN, EPERM) || !refuse(BPF_ITER_CREATE, EPERM)) return "no filter";
    const Status looked = (*census)->read(seen);
    return looked ? "looked" : looked.error().message;
  });
  if (outcome == "no filter") return notice("no seccomp filter could be set");
  CHECK_THAT(outcome, ContainsSubstring("is not permitted"));
}

TEST_CASE("refused: without the list of processes, full and brief reads go from pid to pid with the same result") {
  if (!runs_here()) return;
  const std::string outcome = in_child([]() -> std::string {
    auto census = open_by_bpf().census;
    if (!census) return census.error().message;
    const auto self = [&] {
      std::vector<CensusProcess> seen;
      const Status looked = (*census)->read(seen);
      const auto found = std::ranges::find(seen, ::getpid(), &CensusProcess::pid);
      if (!looked || found == seen.end()) return std::string("not seen");
      return fmt::format("{} {} {} {} {} {} {}", found->whole, found->comm, found->parent_pid, found->threads,
                         found->start_ticks, found->uid, found->memory.or_zero(ProcessField::vm_exe));
    };
    const std::string listed = self();
    if (!refuse(BPF_PROG_TEST_RUN, EPERM)) return "no filter";
    const std::string looked = self();
    if (looked != listed) return listed + " as listed, else " + looked;
    std::vector<BriefSample> samples;
    const Status read = (*census)->read_brief(samples);
    const auto found = std::ranges::find(samples, ::getpid(), &BriefSample::pid);
    return read && found != samples.end() && found->rss_kib > 0 ? "the same" : "not in the brief samples";
  });
  if (outcome == "no filter") return notice("no seccomp filter could be set");
  CHECK(outcome == "the same");
}

TEST_CASE("refused: if memory cannot be locked, reading works, or the error has the fix") {
  if (!runs_here()) return;
  const std::string found = in_child([]() -> std::string {
    const rlimit none{0, 0};
    return ::setrlimit(RLIMIT_MEMLOCK, &none) == 0 ? find_it() : "no limit";
  });
  CHECK_THAT(found, Catch::Matchers::Equals("ok|ok") || ContainsSubstring("LimitMEMLOCK"));
}

TEST_CASE("refused: reads are complete during a flood of signals") {
  if (!runs_here()) return;
  const std::string outcome = in_child([]() -> std::string {
    auto census = open_by_bpf().census;
    if (!census) return census.error().message;
    struct sigaction action {};
    action.sa_handler = [](int) {};  // interrupts reads
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 200}, {0, 200}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    const auto see = [&]<typename Seen>(Status (Census::*how)(std::vector<Seen>&)) -> std::string {
      std::vector<Seen> seen;
      const Status looked = (census->get()->*how)(seen);
      if (!looked) return looked.error().message;
      const auto has = [&](pid_t pid) { return std::ranges::find(seen, pid, &Seen::pid) != seen.end(); };
      if (!has(::getpid()) || !has(::getppid())) return "somebody is missing";
      const auto twice = std::ranges::adjacent_find(seen, std::ranges::greater_equal(), &Seen::pid);
      return twice == seen.end() ? "whole" : "a process is listed twice";
    };
    std::string seen = "whole";
    for (int look = 0; look < 500 && seen == "whole"; ++look)
      seen = look % 5 == 0 ? see(&Census::read_brief) : see(&Census::read);
    return seen;
  });
  CHECK(outcome == "whole");
}

// In a time namespace the kernel's files may show other start times than outside, so they do not identify a process.
TEST_CASE("refused: a time namespace with start times that differ from the machine's") {
  if (!runs_here()) return;
  const std::string found = in_child([]() -> std::string {
    if (::unshare(CLONE_NEWTIME) != 0) return "no namespace";
    std::ofstream offsets("/proc/self/timens_offsets");
    offsets << "boottime 86400 0\n" << std::flush;
    if (!offsets) return "no namespace";
    // Only the children of this process are in the new namespace.
    const auto start_ticks = [] {
      Buffer buffer;
      const auto text = read_file(ProcFs().path(::getpid(), PidFile::stat), buffer);
      const auto stat = text ? parse_pid_stat(*text) : Result<PidStat>(text.error());
      return std::to_string(stat ? stat->start_ticks : 0);
    };
    const bool moved = std::stoll(in_child(start_ticks)) >= std::stoll(start_ticks()) + 86400 * ::sysconf(_SC_CLK_TCK);
    return moved ? in_child(find_it) : "not moved";
  });
  if (found == "no namespace") return notice("no time namespace could be made");
  if (found == "not moved") return notice("starts are the machine's there too: Linux 5.10");
  CHECK_THAT(found, ContainsSubstring("start"));
}

TEST_CASE("refused: if there are more processors than expected, the error has both numbers") {
  if (!runs_here()) return;
  const TemporaryDirectory directory;
  const std::string possible = directory.path() + "/possible";
  std::ofstream(possible) << "0-1023\n";
  const std::string found = in_child([&]() -> std::string {
    const bool shown = ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount(possible.c_str(), "/sys/devices/system/cpu/possible", nullptr, MS_BIND, nullptr) == 0;
    return shown ? find_it() : "no namespace";
  });
  if (found == "no namespace") return notice("no mount namespace could be made");
  // Kernels before 6.2 have no counters per processor.
  if (found == "ok|ok") return notice("this kernel does not count by processor");
  CHECK_THAT(found, ContainsSubstring("1024 processors") && ContainsSubstring("at most 512"));
}

}  // namespace memoir::test
