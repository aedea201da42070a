// Tests of the real census, which need permission to use BPF.

#include "census/census.h"

#include <algorithm>
#include <array>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "census/bpf_census.h"
#include "proc/pid_stat.h"
#include "support/catch.h"
#include "support/open_here.h"
#include "support/sanitized.h"

namespace memoir::test {
namespace {

using F = ProcessField;

// Returns the BPF census, or nullptr after a warning with the reason.
std::unique_ptr<Census> open_or_warn() {
  auto census = open_here().census;
  if (!census) WARN("not run: " << census.error().message);
  return census ? *std::move(census) : nullptr;
}

template <typename Seen = CensusProcess>
std::vector<Seen> look(Census& census, Status (Census::*how)(std::vector<Seen>&) = &Census::read) {
  std::vector<Seen> seen;
  const Status looked = (census.*how)(seen);
  if (!looked) FAIL(looked.error().message);
  return seen;
}

template <typename Seen>
const Seen* find(const std::vector<Seen>& seen, std::int32_t pid) {
  const auto found = std::ranges::find(seen, pid, &Seen::pid);
  return found == seen.end() ? nullptr : &*found;
}

TEST_CASE("a census agrees with /proc on an unchanged process") {
  const auto census = open_or_warn();
  if (census == nullptr) return;
  const Status tested = verify_census(*census, ProcFs());
  INFO((tested ? "" : tested.error().message));
  CHECK(tested.ok());
}

TEST_CASE("a census has every process once, in pid order, and no kernel threads") {
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
    if (!stat || stat->start_ticks != process.start_ticks) continue;  // it has exited in between
    CHECK_FALSE(stat->kernel_thread());
    if (stat->comm == process.comm) ++compared;  // otherwise it has exec'd in between
  }
  CHECK(compared > 0);
  const CensusProcess* self = find(seen, ::getpid());
  REQUIRE(self != nullptr);
  CHECK(self->state == 'R');
  CHECK(self->parent_pid == ::getppid());
  CHECK(self->uid == ::getuid());
}

TEST_CASE("a brief read finds the processes of a full read, with the same RSS for unchanged ones") {
  const auto census = open_or_warn();
  if (census == nullptr) return;
  const auto before = look(*census);
  const auto brief = look(*census, &Census::read_brief);
  const auto after = look(*census);
  CHECK(std::ranges::adjacent_find(brief, std::ranges::greater_equal(), &BriefSample::pid) == brief.end());
  std::size_t still = 0;
  for (const CensusProcess& process : before) {
    const CensusProcess* later = find(after, process.pid);
    if (later == nullptr || later->start_ticks != process.start_ticks) continue;
    if (later->memory != process.memory) continue;
    const BriefSample* between = find(brief, process.pid);
    const auto expected = brief_sample_of(process);
    REQUIRE((between != nullptr) == expected.has_value());
    if (between == nullptr) continue;
    ++still;
    CHECK(*between == *expected);
  }
  CHECK(still > 0);
}

TEST_CASE("a census counts first writes to memory shared since a fork, and nothing without writes") {
  const auto census = open_or_warn();
  if (census == nullptr) return;
  constexpr std::size_t pages = 50;
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<char> shared(pages * page_bytes, 1);
  std::array<int, 2> orders{};
  std::array<int, 2> done{};
  REQUIRE(::pipe(orders.data()) == 0);
  REQUIRE(::pipe(done.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(orders[1]);
    char order = 0;
    while (::read(orders[0], &order, 1) == 1 && order != 'e') {
      for (std::size_t i = 0; order == 'w' && i < shared.size(); i += page_bytes)
        static_cast<volatile char*>(shared.data())[i] = 2;
      if (::write(done[1], "d", 1) != 1) break;
    }
    ::_exit(0);
  }
  const auto faulted_after = [&](char order) {
    char answer = 0;
    REQUIRE(::write(orders[1], &order, 1) == 1);
    REQUIRE(::read(done[0], &answer, 1) == 1);
    const auto seen = look(*census);
    const CensusProcess* of = find(seen, child);
    REQUIRE(of != nullptr);
    REQUIRE(of->faulted_kib);
    return *of->faulted_kib;
  };
  faulted_after('n');  // the first call also faults in code and stack of the child
  const std::int64_t before = faulted_after('n');
  CHECK(faulted_after('n') == before);
  CHECK(faulted_after('w') >= before + static_cast<std::int64_t>(shared.size() / 1024));
  CHECK(::write(orders[1], "e", 1) == 1);
  ::waitpid(child, nullptr, 0);
  for (const int fd : {orders[0], orders[1], done[0], done[1]}) ::close(fd);
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

// A census that reports the same values for every process.
class ScriptedCensus final : public Census {
 public:
  explicit ScriptedCensus(CensusProcess says) : says_(std::move(says)) {}

  Status read(std::vector<CensusProcess>& processes) override {
    std::vector<std::int32_t> pids;
    Status listed = ProcFs().list(pids);
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
  const Status tested = verify_census(census, ProcFs());
  return tested ? "" : tested.error().message;
}

TEST_CASE("a census whose values differ from the kernel's files fails its self-test, which names the values") {
  if (kThreadsSanitized) return;
  CensusProcess says;
  says.parent_pid = 1;
  CHECK_THAT(why_not(says), ContainsSubstring("reports parent 1,"));
  says.parent_pid = ::getpid();
  says.uid = ::getuid() + 1;
  CHECK_THAT(why_not(says), ContainsSubstring("user"));
  says.uid = ::getuid();
  says.threads = 2;
  CHECK_THAT(why_not(says), ContainsSubstring("number of threads 2,"));
  says.threads = 1;
  CHECK_THAT(why_not(says), ContainsSubstring("RssAnon 0,"));
  says.memory.set(F::vm_rss, 1 << 20);
  says.memory.set(F::rss_anon, 1 << 20);
  CHECK_THAT(why_not(says), ContainsSubstring("RssAnon 1048576,") || ContainsSubstring("VmRSS 1048576,"));
}

}  // namespace
}  // namespace memoir::test
