// The collector on the machine's own /proc, with children whose memory is known.

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/cached_file.h"
#include "collect/collector_fixture.h"
#include "collect/mappings/mapping_fold.h"
#include "proc/smaps_rollup.h"
#include "support/sanitized.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

namespace {

constexpr std::size_t kMiB = 1024 * 1024;

// A child process that runs the given work, reports that it is done, and waits to be killed. The work must not use the
// heap or the test's macros.
class Child {
 public:
  explicit Child(const std::function<void()>& work, bool main_thread_exits = false) {
    std::array<int, 2> said{};
    REQUIRE(::pipe(said.data()) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      work();
      if (::write(said[1], "x", 1) != 1) ::_exit(1);
      if (main_thread_exits) ::syscall(SYS_exit, 0);
      while (true) ::pause();
    }
    ::close(said[1]);
    char ready = 0;
    const ssize_t got = ::read(said[0], &ready, 1);
    ::close(said[0]);
    REQUIRE(got == 1);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::int32_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

char* map(std::size_t bytes, int flags, int fd = -1) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) std::abort();
  ::madvise(at, bytes, MADV_NOHUGEPAGE);
  return static_cast<char*>(at);
}

// No sanitizer: it would record each write in additional memory of the child.
__attribute__((noinline, no_sanitize("thread"), no_sanitize("address"))) void touch(char* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 4096) at[i] = 1;
}

struct RealMachine {
  SystemClock clock;
  std::unique_ptr<TickSource> collector = make_collector(ProcFs(), clock);

  Tick tick() {
    auto result = collector->collect(false);
    if (!result) FAIL(result.error().message);
    return *std::move(result);
  }
};

// The memory of `child` minus that of `plain`, a child without the memory under test.
std::int64_t difference(const Tick& tick, const Child& child, const Child& plain, F field) {
  return sample_of(tick, child.pid()).memory.or_zero(field) - sample_of(tick, plain.pid()).memory.or_zero(field);
}

// Tolerance of difference(). Besides its allocation, a child that allocates has more page tables, and a few more pages
// of stack and libraries.
constexpr std::int64_t kSlackKib = 256;

bool near(std::int64_t value, std::int64_t expected) {
  return std::abs(value - expected) <= kSlackKib;
}

}  // namespace

TEST_CASE("real private memory is found") {
  RealMachine machine;
  const Child plain([] {});
  const Child child([] { touch(map(32 * kMiB, MAP_PRIVATE | MAP_ANONYMOUS), 32 * kMiB); });
  const Tick tick = machine.tick();
  const ProcessSample sample = sample_of(tick, child.pid());
  REQUIRE(sample.source == Source::exact);
  CHECK(near(difference(tick, child, plain, F::private_dirty), 32 * 1024));
  CHECK(near(difference(tick, child, plain, F::rss_anon), 32 * 1024));
  CHECK(sample.memory.get(F::vm_hwm) >= 32 * 1024);
  CHECK(sample.threads >= 1);  // a sanitizer may add a thread
  const ProcessInfo info = born_of(tick, child.pid());
  CHECK(info.parent_pid == ::getpid());
  CHECK(info.uid == ::getuid());
  CHECK(std::abs(info.start_ms - tick.begin.wall_ms) < 60'000);
  CHECK(tick.counts.seen >= 3);
}

TEST_CASE("real memory shared by memfd is divided by PSS") {
  RealMachine machine;
  const int fd = ::memfd_create("memoir-test", MFD_CLOEXEC);
  REQUIRE(fd >= 0);
  REQUIRE(::ftruncate(fd, 16 * kMiB) == 0);
  const auto use = [fd] { touch(map(16 * kMiB, MAP_SHARED, fd), 16 * kMiB); };
  const Child plain([] {});
  const Child a(use);
  const Child b(use);
  ::close(fd);
  const Tick tick = machine.tick();
  for (const Child* child : {&a, &b}) {
    CHECK(near(difference(tick, *child, plain, F::rss_shmem), 16 * 1024));
    CHECK(near(difference(tick, *child, plain, F::pss_shmem), 8 * 1024));
    CHECK(near(difference(tick, *child, plain, F::shared_dirty), 16 * 1024));
    CHECK(near(difference(tick, *child, plain, F::private_dirty), 0));
  }
}

TEST_CASE("a real copy-on-write child shares until it writes") {
  RealMachine machine;
  constexpr std::size_t size = 16 * kMiB;
  char* const memory = map(size, MAP_PRIVATE | MAP_ANONYMOUS);
  touch(memory, size);
  const Child reader([] {});
  const Child writer([memory] { touch(memory, size / 2); });
  const Tick tick = machine.tick();
  CHECK(near(difference(tick, writer, reader, F::private_dirty), 8 * 1024));
  CHECK(near(difference(tick, writer, reader, F::rss), 0));
  CHECK(sample_of(tick, reader.pid()).memory.or_zero(F::rss) >= 16 * 1024);
  ::munmap(memory, size);
}

TEST_CASE("a real exec and a real exit are recorded") {
  RealMachine machine;
  std::array<int, 2> go{};
  REQUIRE(::pipe(go.data()) == 0);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(go[1]);
    char wait = 0;
    if (::read(go[0], &wait, 1) < 0) ::_exit(1);
    ::execl("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr));
    ::_exit(1);
  }
  const Tick before = machine.tick();
  const ProcessKey key = sample_of(before, pid).key;
  CHECK(key.exec_count == 0);
  ::close(go[0]);
  ::close(go[1]);
  // The child execs when the end of the pipe is closed; the test waits until it has.
  Tick tick = machine.tick();
  while (std::none_of(tick.exits.begin(), tick.exits.end(), [&](const ProcessExit& e) { return e.key == key; })) {
    tick = machine.tick();
  }
  CHECK(sample_of(tick, pid).key.exec_count == 1);
  CHECK(sample_of(tick, pid).source == Source::exact);
  const auto exit =
      std::find_if(tick.exits.begin(), tick.exits.end(), [&](const ProcessExit& e) { return e.key == key; });
  CHECK(exit->kind == ExitKind::execed);

  ::kill(pid, SIGKILL);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) == 0);
  const Tick dead = machine.tick();
  CHECK(sample_of(dead, pid).state == 'Z');
  CHECK(sample_of(dead, pid).source == Source::inaccessible);
  CHECK(dead.counts.zombies >= 1);
  ::waitpid(pid, nullptr, 0);
  const Tick gone = machine.tick();
  CHECK_FALSE(has_sample(gone, pid));
  CHECK(std::any_of(gone.exits.begin(), gone.exits.end(),
                    [&](const ProcessExit& e) { return e.key.pid == pid && e.kind == ExitKind::exited; }));
}

TEST_CASE("this process is recorded with the kernel's values") {
  RealMachine machine;
  const Tick tick = machine.tick();
  const ProcessInfo self = born_of(tick, ::getpid());
  const auto exe = read_link("/proc/self/exe");
  REQUIRE(exe.ok());
  CHECK(self.exe == *exe);
  CHECK(tick.machine.memory.or_zero(MachineField::mem_total) > 0);
  CHECK(tick.counts.malformed == 0);
  CHECK(std::is_sorted(tick.processes.begin(), tick.processes.end(),
                       [](const ProcessSample& a, const ProcessSample& b) { return a.key < b.key; }));
  for (int i = 0; i < 3; ++i) CHECK(machine.tick().counts.malformed == 0);
}

TEST_CASE("the descriptor limit is raised, with a reserve for others") {
  const std::size_t kept = raise_descriptor_limit();
  CHECK(kept > 0);
  CHECK(raise_descriptor_limit() == kept);
}

namespace {

std::optional<ProcessMemory> read_rollup(std::int32_t pid) {
  Buffer buffer;
  ProcessMemory memory;
  const auto text = read_file(ProcFs().path(pid, PidFile::smaps_rollup), buffer);
  if (!text || !parse_smaps_rollup(*text, memory)) return std::nullopt;
  return memory;
}

MappingSummary read_summary(std::int32_t pid, std::size_t piece_bytes, std::size_t max_rows) {
  const auto fd = open_file("/proc/" + std::to_string(pid) + "/smaps");
  REQUIRE(fd.ok());
  MappingFold fold({}, max_rows);
  SmapsParser parser([&](const SmapsRegion& region) { fold.add(region); });
  std::vector<char> buffer(piece_bytes);
  for (;;) {
    const ssize_t got = ::read(fd->get(), buffer.data(), buffer.size());
    REQUIRE(got >= 0);
    if (got == 0) break;
    REQUIRE(parser.add({buffer.data(), static_cast<std::size_t>(got)}).ok());
  }
  REQUIRE(parser.finish().ok());
  return fold.take();
}

MappingUse real_sum_of(const MappingSummary& summary) {
  MappingUse sum;
  for (const MappingRow& row : summary.rows) sum.add(row.use);
  for (const MappingUse& others : summary.others) sum.add(others);
  return sum;
}

// Returns true for a proportional share. The kernel rounds it down to KiB in each region.
bool is_share(F field) {
  return field == F::pss || field == F::pss_dirty || field == F::swap_pss || field == F::locked;
}

// Returns the fields whose sum over the mappings differs from the rollup.
std::vector<std::string_view> differing(const MappingUse& sum, const ProcessMemory& rollup) {
  std::vector<std::string_view> differ;
  for (std::size_t i = 0; i < kRollupFields; ++i) {
    const F field = static_cast<F>(i);
    if (!sum.memory.has(field)) continue;
    const std::int64_t missing = rollup.or_zero(field) - sum.memory.or_zero(field);
    if (missing < 0 || missing > (is_share(field) ? sum.regions : 0)) differ.push_back(kProcessFields.at(i).key);
  }
  return differ;
}

}  // namespace

TEST_CASE("mappings of a stopped process, read in pieces of any size, add up to its smaps_rollup") {
  const Child child([] {
    touch(map(4 * kMiB, MAP_PRIVATE | MAP_ANONYMOUS), 3 * kMiB);
    touch(map(2 * kMiB, MAP_SHARED | MAP_ANONYMOUS), kMiB);
    const int memfd = ::memfd_create("a mapper's", 0);
    if (memfd < 0 || ::ftruncate(memfd, kMiB) != 0) std::abort();
    touch(map(kMiB, MAP_SHARED, memfd), kMiB / 2);
  });
  ::kill(child.pid(), SIGSTOP);
  if (!read_rollup(child.pid())) {
    WARN("skipped: no smaps_rollup");
    return;
  }
  const auto piece_bytes = GENERATE(std::size_t{61}, std::size_t{4096});
  const auto max_rows = GENERATE(std::size_t{2}, std::size_t{1000});
  // Shared pages become unshared when other processes exit or write to them; then the test reads again. They may change
  // and change back between two readings, but hardly three times in a row.
  int differed = 0;
  for (int attempt = 0; attempt < 20 && differed < 3; ++attempt) {
    const auto before = read_rollup(child.pid());
    const MappingSummary summary = read_summary(child.pid(), piece_bytes, max_rows);
    if (before != read_rollup(child.pid())) continue;
    const MappingUse sum = real_sum_of(summary);
    CHECK(sum.memory.has(F::pss));
    const std::vector<std::string_view> differ = differing(sum, *before);
    if (!differ.empty() && ++differed < 3) continue;
    CHECK(differ == std::vector<std::string_view>());
    if (max_rows == 2) return;
    const auto memfd = std::ranges::find(summary.rows, MappingName{MappingKind::memfd, "/memfd:a mapper's (deleted)"},
                                         &MappingRow::name);
    REQUIRE(memfd != summary.rows.end());
    CHECK(memfd->use.size_kib == 1024);
    CHECK(memfd->use.memory.get(F::rss) == 512);
    return;
  }
  WARN("skipped: other processes never stopped changing");
}

TEST_CASE("a real process has memory, state and command after its main thread has exited") {
  const bool by_census = GENERATE(false, true);
  const auto proc = std::make_shared<const ProcFs>();
  SystemClock clock;
  DescriptorBudget budget(1000);
  auto census = by_census ? make_proc_census(proc, budget) : nullptr;
  const auto collector = make_collector(*proc, clock, many_descriptors(), std::move(census));
  const Child child(
      [] {
        static std::atomic<bool> holds{false};
        std::thread([] {
          touch(map(32 * kMiB, MAP_PRIVATE | MAP_ANONYMOUS), 32 * kMiB);
          holds = true;
          while (true) ::pause();
        }).detach();
        while (!holds) ::sched_yield();
      },
      true);
  const auto main_thread_runs = [&] {
    Buffer buffer;
    const auto text = read_file(proc->path(child.pid(), PidFile::stat), buffer);
    REQUIRE(text.ok());
    return text->find(") Z ") == std::string_view::npos;
  };
  while (main_thread_runs()) ::sched_yield();
  for (int i = 0; i < 2; ++i) {
    const auto tick = collector->collect(false);
    REQUIRE(tick.ok());
    const ProcessSample sample = sample_of(*tick, child.pid());
    CHECK(sample.state != 'Z');
    CHECK((kThreadsSanitized ? sample.threads >= 2 : sample.threads == 2));
    CHECK(sample.source != Source::inaccessible);
    CHECK(sample.memory.or_zero(F::private_dirty) >= 32 * 1024);
    CHECK(sample.memory.or_zero(F::rss_anon) >= 32 * 1024);
    CHECK(sample.memory.or_zero(F::vm_hwm) >= 32 * 1024);
    if (i == 0) CHECK(born_of(*tick, child.pid()).command.find("(zombie)") == std::string::npos);
    if (i == 0) CHECK(born_of(*tick, child.pid()).exe == *read_link("/proc/self/exe"));
  }
}
