// Bounds on the work and memory that kernel events and the kernel's log cause.

#include <fmt/format.h>
#include <fstream>

#include "bounds/row.h"
#include "collect/collector_fixture.h"
#include "collect/exit/exit_fold.h"
#include "collect/oom/kernel_log.h"
#include "support/fake_census.h"
#include "support/fake_events.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kLargeKib = 16 * 1024;

struct ExitRows {
  std::int64_t names = 0;
  std::int64_t kept = 0;
  std::int64_t counted = 0;
};

ExitRows rows_of_exits(std::int64_t users, std::int64_t of_each) {
  ExitFold fold;
  fold.set_large(kLargeKib);
  ProcessEvent exit;
  exit.kind = ProcessEventKind::exited;
  exit.boot_ns = 3'000'000'000;
  for (std::int64_t user = 0; user < users; ++user) {
    exit.uid = static_cast<std::uint32_t>(1000 + user);
    for (std::int64_t i = 0; i < of_each; ++i) {
      exit.pid = static_cast<std::int32_t>(user * of_each + i);
      exit.comm = fmt::format("n{}", i);
      for (const std::int64_t kib : {kLargeKib / 16, kLargeKib}) {
        exit.peak_kib = kib;
        fold.note(exit, nullptr, {});
      }
    }
  }
  const ExitFold::Taken taken = fold.take();
  CHECK(taken.exits == 2 * users * of_each);
  ExitRows rows{std::ssize(taken.sums), std::ssize(taken.kept), std::ssize(taken.kept)};
  for (const SummedExits& of : taken.sums) rows.counted += of.sum.count;
  return rows;
}

}  // namespace

void probe_exits(const BoundRow& row) {
  const std::int64_t of_user = row.number("names of a user");
  const std::int64_t of_all = row.number("of all;");
  const ExitRows own = rows_of_exits(1, of_user * kExcess);
  CHECK(own.names <= of_user + 1);  // the excess is one sum
  CHECK(own.kept <= of_user);
  CHECK(own.counted == 2 * of_user * kExcess);
  const ExitRows all = rows_of_exits(of_all * kExcess / of_user, of_user);
  CHECK(all.names <= of_all + 1);
  CHECK(all.kept <= of_all);
  CHECK(all.counted == 2 * of_all * kExcess);
}

void probe_oom_kills(const BoundRow& row) {
  FakeProc proc;
  const ManualClock clock{{FakeProc::kBootMs + 1'000'000, 1'000'000}};
  const auto script = std::make_shared<FakeEvents::Script>();
  const auto collector = make_collector(proc.proc(), clock, many_descriptors(),
                                        Result<std::unique_ptr<Census>>(std::make_unique<FakeCensus>(
                                            proc.proc(), std::make_shared<FakeCensus::Script>())),
                                        Result<std::unique_ptr<ProcessEvents>>(std::make_unique<FakeEvents>(script)));
  const std::int64_t victims = row.number("victims");
  ProcessEvent chosen;
  chosen.kind = ProcessEventKind::oom_victim;
  chosen.boot_ns = clock.now().boot_ms * 1'000'000;
  for (std::int64_t i = 0; i < victims * kExcess; ++i) {
    chosen.pid = static_cast<std::int32_t>(100 + i);
    script->events.push_back(chosen);
  }
  std::int64_t reported = 0;
  for (int i = 0; i < 3; ++i) reported += std::ssize(collector->collect(false)->oom_victims);
  CHECK(reported == victims);

  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/kmsg";
  std::ofstream(path).flush();
  auto log = KernelLog::open(path, "/proc/sys/kernel/dmesg_restrict");
  REQUIRE(log.ok());
  const std::int64_t records = row.number("records of the kernel's log");
  {
    std::ofstream out(path, std::ios::app);
    for (std::int64_t i = 1; i <= records * kExcess; ++i) out << fmt::format("6,{},{},-;{:0>200}\n", i, i * 1000, i);
  }
  std::int64_t most = 0;
  std::int64_t all = 0;
  for (bool is_last = false; !is_last;) {
    std::int64_t taken = 0;
    const auto result = log->read([&](const LogRecord&, bool) { ++taken; });
    REQUIRE(result.ok());
    is_last = result->all;
    most = std::max(most, taken);
    all += taken;
  }
  // The last read of a call may add some more.
  CHECK(most <= records + 1000);
  CHECK(all == records * kExcess);
}

}  // namespace memoir::test
