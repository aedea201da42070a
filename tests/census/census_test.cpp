// The census as it runs here, where BPF may be used.

#include "census/census.h"

#include <algorithm>
#include <sys/wait.h>
#include <unistd.h>

#include "census/bpf_census.h"
#include "proc/pid_stat.h"
#include "support/catch.h"
#include "support/sanitized.h"

namespace memoir::test {
namespace {

using F = ProcessField;

// That by BPF, or a notice of why it may not run here.
std::unique_ptr<Census> open_or_warn() {
  auto census = open_by_bpf().census;
  if (!census) WARN("not run: " << census.error().message);
  return census ? *std::move(census) : nullptr;
}

std::vector<CensusProcess> look(Census& census) {
  std::vector<CensusProcess> seen;
  const Status looked = census.look(seen);
  if (!looked) FAIL(looked.error().message);
  return seen;
}

const CensusProcess* find(const std::vector<CensusProcess>& seen, std::int32_t pid) {
  const auto found = std::ranges::find(seen, pid, &CensusProcess::pid);
  return found == seen.end() ? nullptr : &*found;
}

TEST_CASE("a census agrees with /proc on a process that holds still") {
  const auto census = open_or_warn();
  if (census == nullptr) return;
  const Status tested = test_census(*census, ProcFs());
  INFO((tested ? "" : tested.error().message));
  CHECK(tested.ok());
}

TEST_CASE("a census sees every process once, in the order of pids, and no kernel threads") {
  const auto census = open_or_warn();
  if (census == nullptr) return;
  const auto seen = look(*census);
  CHECK(std::ranges::adjacent_find(seen, std::ranges::greater_equal(), &CensusProcess::pid) == seen.end());
  const ProcFs proc;
  Buffer buffer;
  std::size_t compared = 0;
  for (const CensusProcess& process : seen) {
    const auto text = read_file(proc.path(process.pid, PidFile::stat), buffer);
    const auto stat = text ? parse_pid_stat(*text) : Result<PidStat>(text.error());
    if (!stat || stat->start_ticks != process.start_ticks) continue;  // it is gone by now
    CHECK_FALSE(stat->kernel_thread());
    if (stat->comm == process.comm) ++compared;  // else it runs another image by now
  }
  CHECK(compared > 0);
  const CensusProcess* self = find(seen, ::getpid());
  REQUIRE(self != nullptr);
  CHECK(self->state == 'R');
  CHECK(self->parent_pid == ::getppid());
  CHECK(self->uid == ::getuid());
}

TEST_CASE("a census shows a zombie without memory") {
  const auto census = open_or_warn();
  if (census == nullptr) return;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  const auto seen = look(*census);
  const CensusProcess* zombie = find(seen, child);
  REQUIRE(zombie != nullptr);
  CHECK(zombie->state == 'Z');
  CHECK(zombie->memory == ProcessMemory());
  ::waitpid(child, nullptr, 0);
  const auto later = look(*census);
  CHECK(find(later, child) == nullptr);
}

// Says the same of every process of ours.
class ScriptedCensus final : public Census {
 public:
  explicit ScriptedCensus(CensusProcess says) : says_(std::move(says)) {}

  Status look(std::vector<CensusProcess>& processes) override {
    std::vector<std::int32_t> pids;
    const Status listed = ProcFs().list(pids);
    processes.clear();
    for (const std::int32_t pid : pids) {
      processes.push_back(says_);
      processes.back().pid = pid;
    }
    return listed;
  }

  std::string_view name() const override { return "scripted"; }

 private:
  CensusProcess says_;
};

std::string why_not(const CensusProcess& says) {
  ScriptedCensus census(says);
  const Status tested = test_census(census, ProcFs());
  return tested ? "" : tested.error().message;
}

TEST_CASE("a census that tells other values than the kernel's files fails its test, which names them") {
  using Catch::Matchers::Contains;
  if (kThreadsSanitized) return;
  CensusProcess says;
  says.parent_pid = 1;
  CHECK_THAT(why_not(says), Contains("parent is 1"));
  says.parent_pid = ::getpid();
  says.uid = ::getuid() + 1;
  CHECK_THAT(why_not(says), Contains("user"));
  says.uid = ::getuid();
  says.threads = 2;
  CHECK_THAT(why_not(says), Contains("threads is 2"));
  says.threads = 1;
  CHECK_THAT(why_not(says), Contains("RssAnon is 0"));
  says.memory.set(F::vm_rss, 1 << 20);
  says.memory.set(F::rss_anon, 1 << 20);
  CHECK_THAT(why_not(says), Contains("RssAnon is 1048576") || Contains("VmRSS is 1048576"));
}

}  // namespace
}  // namespace memoir::test
