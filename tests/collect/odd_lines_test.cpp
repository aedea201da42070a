// One odd line in any file of a process or of the machine costs only the value of that line. The tick, the process, all
// other processes and values stay complete.

#include "base/text.h"
#include "collect/collector_fixture.h"
#include "support/fixture.h"

namespace memoir::test {
namespace {

Tick tick_of(const FakeProc& proc) {
  const ManualClock clock{{FakeProc::kBootMs + 1'000'000, 1'000'000}};
  const auto collector = make_collector(proc.proc(), clock);
  auto tick = collector->collect(true);
  if (!tick) FAIL(tick.error().message);
  return *std::move(tick);
}

template <typename E>
int known(const FieldSet<E>& fields) {
  int count = 0;
  for (std::size_t i = 0; i < FieldSet<E>::kCount; ++i) count += fields.has(static_cast<E>(i)) ? 1 : 0;
  return count;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(std::string(cut_line(text)) + '\n');
  return lines;
}

}  // namespace

TEST_CASE("an odd line costs neither the tick, nor its process, nor another") {
  FakeProc proc;
  proc.add(fake(10, "one"));
  proc.add(fake(11, "two"));
  proc.write(SystemFile::meminfo, fixture("linux-6.18/machine/meminfo"));
  proc.write(SystemFile::vmstat, fixture("linux-6.18/machine/vmstat"));
  proc.write(SystemFile::pressure_memory, fixture("linux-6.18/machine/pressure-memory"));
  proc.write(10, PidFile::status, fixture("linux-6.18/bash/status"));
  proc.write(10, PidFile::smaps_rollup, fixture("linux-6.18/bash/smaps_rollup"));
  const Tick base = tick_of(proc);
  REQUIRE(base.counts.malformed == 0);

  const auto check = [&](const std::string& what) {
    const Tick tick = tick_of(proc);
    INFO(what);
    REQUIRE(tick.processes.size() == 2);
    CHECK(sample_of(tick, 11) == sample_of(base, 11));
    CHECK(known(base.machine.memory) - known(tick.machine.memory) <=
          5);  // Hugepagesize and the four fields derived from it
    // VmRSS and similar fields replace those that smaps_rollup lacks.
    CHECK(known(sample_of(base, 10).memory) - known(sample_of(tick, 10).memory) <= 1);
    CHECK(tick.categories.size() == base.categories.size());
  };
  const auto try_file = [&](const std::string& text, const auto& write) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string key = lines[i].substr(0, lines[i].find_first_of(": \t"));
      const std::string separator = lines[i].substr(key.size(), 1);
      for (const std::string& odd :
           {key + separator + "\t18446744073709551615 kB\n", key + separator + '\n', std::string()}) {
        std::string changed;
        for (std::size_t j = 0; j < lines.size(); ++j) changed += i == j ? odd : lines[j];
        write(changed);
        check(odd.empty() ? "without " + key : odd);
      }
    }
    write(text);
  };
  SECTION("meminfo") {
    try_file(fixture("linux-6.18/machine/meminfo"), [&](const auto& text) { proc.write(SystemFile::meminfo, text); });
  }
  SECTION("status") {
    try_file(fixture("linux-6.18/bash/status"), [&](const auto& text) { proc.write(10, PidFile::status, text); });
  }
  SECTION("smaps_rollup") {
    try_file(fixture("linux-6.18/bash/smaps_rollup"),
             [&](const auto& text) { proc.write(10, PidFile::smaps_rollup, text); });
  }
}

TEST_CASE("without Pss a process's other sizes are known, and its PSS has bounds") {
  Machine machine;
  machine.proc.add(fake(10, "one", 4000));
  machine.proc.write(10, PidFile::smaps_rollup,
                     "Rss: 4200 kB\nPss: x kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: 4000 kB\n");
  const Tick tick = machine.tick();
  const ProcessSample sample = sample_of(tick, 10);
  CHECK_FALSE(sample.memory.has(ProcessField::pss));
  CHECK(uss_kib(sample.memory) == 4000);
  CHECK(pss_bounds(sample).max_kib >= 4000);
  CHECK(tick.categories.front().inexact == 1);
  CHECK(tick.odd_lines.kinds() == std::vector<OddLine>{{"smaps_rollup", "Pss", "cannot understand \"Pss: x kB\"", 1}});
}

TEST_CASE("without Uid the user is unknown, not root") {
  Machine machine;
  machine.proc.add(fake(10, "one"));
  machine.proc.write(10, PidFile::status, "Name:\tone\nState:\tS (sleeping)\nVmSize:\t 9000 kB\nVmRSS:\t 4000 kB\n");
  const Tick tick = machine.tick();
  CHECK(born_of(tick, 10).uid == kUnknownUid);
  CHECK(born_of(tick, 10).user == "unknown");
  CHECK(sample_of(tick, 10).memory.has(ProcessField::pss));
  CHECK(tick.odd_lines.kinds() == std::vector<OddLine>{{"status", "Uid", "has no Uid", 1}});
  machine.proc.update(fake(10, "one"));
  CHECK(born_of(machine.tick(), 10).uid == 0);
}

}  // namespace memoir::test
