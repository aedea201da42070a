// Ledgers in the ticks of a collector on a fake machine.

#include <chrono>
#include <csignal>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "collect/collector_fixture.h"
#include "collect/mappings/ledger_reader.h"
#include "collect/process/file_jobs.h"
#include "support/sanitized.h"

using namespace memoir;
using namespace memoir::test;
using F = ProcessField;
using K = MappingKind;
using namespace std::chrono_literals;

namespace {

struct Region {
  std::string path;
  std::int64_t private_kib = 4;
  std::int64_t swap_kib = 0;
  std::string permissions = "rw-p";
  std::string device = "00:01";
};

std::string smaps_of(const std::vector<Region>& regions) {
  std::string text;
  std::uint64_t at = 0x10000;
  for (const Region& region : regions) {
    char line[128];
    const auto end = at + static_cast<std::uint64_t>(region.private_kib) * 1024;
    std::snprintf(line, sizeof line, "%lx-%lx %s 00000000 %s 1 ", at, end, region.permissions.c_str(),
                  region.device.c_str());
    const std::string kib = std::to_string(region.private_kib) + " kB\n";
    text += line + region.path + "\nSize: " + kib + "Rss: " + kib + "Pss: " + kib + "Shared_Clean: 0 kB\n" +
            "Shared_Dirty: 0 kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: " + kib +
            "Swap: " + std::to_string(region.swap_kib) + " kB\nSwapPss: 0 kB\n";
    at = end;
  }
  return text;
}

FakeProcess mapper(std::int32_t pid, const std::vector<Region>& regions, std::int64_t private_kib = 1000) {
  FakeProcess process = fake(pid, "mapper", private_kib);
  process.smaps = smaps_of(regions);
  return process;
}

const ProcessLedger* ledger_of(const Tick& tick, std::int32_t pid) {
  for (const ProcessLedger& ledger : tick.ledgers) {
    if (ledger.process.pid == pid) return &ledger;
  }
  return nullptr;
}

// Moves what status tells.
void touch(Machine& machine, FakeProcess process, std::int64_t more_kib = 4) {
  process.memory = memory_of(process.memory.or_zero(F::rss_anon) + more_kib, 200);
  machine.proc.update(process);
}

Tick ask(Machine& machine, LedgerAsk whom = LedgerAsk::planned) {
  machine.collector->ask_ledgers(whom);
  return machine.tick();
}

CollectorOptions patient() {
  CollectorOptions options = many_descriptors();
  options.read_deadline = 10s;
  return options;
}

}  // namespace

TEST_CASE("ledgers: a tick has those whose turn it is, by kind and label, with their cost") {
  Machine machine(patient());
  machine.proc.write(SystemFile::mountinfo, "24 25 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=24684096k\n");
  machine.proc.add(mapper(10, {{"/dev/shm/a b", 100, 0, "rw-s", "00:17"},
                               {"[heap]", 50},
                               {"[heap]", 30},
                               {"/memfd:x (deleted)", 20, 0, "rw-s"},
                               {"", 10}}));
  const Tick tick = machine.tick();
  const ProcessLedger* const ledger = ledger_of(tick, 10);
  REQUIRE(ledger != nullptr);
  CHECK(ledger->state == LedgerState::exact);
  CHECK(ledger->regions == 5);
  CHECK(ledger->cpu_us >= 0);
  CHECK(ledger->wall_us >= 0);
  CHECK(ledger->process == sample_of(tick, 10).key);
  REQUIRE(ledger->read_ms);
  CHECK(std::abs(*ledger->read_ms - tick.begin.wall_ms) < 60'000);
  const auto& rows = ledger->ledger.rows;
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == MappingName{K::tmpfs, "/dev/shm/a b"});
  CHECK(rows[0].use.shared_regions == 1);
  CHECK(rows[1].name == MappingName{K::heap, "[heap]"});
  CHECK(rows[1].use.regions == 2);
  CHECK(rows[1].use.pss_kib() == 80);
  CHECK(rows[2].name == MappingName{K::memfd, "/memfd:x (deleted)"});
  CHECK(rows[3].name == MappingName{K::anonymous, ""});
  CHECK(machine.tick().ledgers.empty());
}

TEST_CASE("ledgers: read again after the interval if the process moved, and on demand") {
  Machine machine(patient());
  const FakeProcess process = mapper(10, {{"[heap]", 50}});
  machine.proc.add(process);
  CHECK(machine.tick().ledgers.size() == 1);
  machine.clock.advance(900'000);
  CHECK(machine.tick().ledgers.empty());
  touch(machine, process);
  CHECK(machine.tick().ledgers.size() == 1);
  touch(machine, process, 8);
  CHECK(machine.tick().ledgers.empty());
  CHECK(ask(machine).ledgers.size() == 1);
}

TEST_CASE("ledgers: off") {
  CollectorOptions options = many_descriptors();
  options.ledgers.interval_ms = 0;
  Machine machine(options);
  machine.proc.add(mapper(10, {{"[heap]", 50}}));
  CHECK(machine.tick().ledgers.empty());
  CHECK(ask(machine).ledgers.empty());
  machine.collector->set_ledgers({});
  CHECK(machine.tick().ledgers.size() == 1);
}

TEST_CASE("ledgers: labels beyond the largest are summed by their kind, names that are no UTF-8 are made so") {
  CollectorOptions options = patient();
  options.ledgers.labels = 2;
  Machine machine(options);
  machine.proc.add(mapper(10, {{"/\xff/a", 40}, {"/b", 30}, {"/c", 20}, {"[heap]", 10}, {"/\xff/a", 5}}));
  const Tick tick = machine.tick();
  const ProcessLedger* const ledger = ledger_of(tick, 10);
  REQUIRE(ledger != nullptr);
  REQUIRE(ledger->ledger.rows.size() == 2);
  CHECK(ledger->ledger.rows[0].name.label == "/\\xff/a");
  CHECK(ledger->ledger.rows[0].use.pss_kib() == 45);
  CHECK(ledger->ledger.others[static_cast<std::size_t>(K::file)].pss_kib() == 20);
  CHECK(ledger->ledger.others[static_cast<std::size_t>(K::heap)].pss_kib() == 10);
}

TEST_CASE("ledgers: a user who makes up labels without end fills a small part of the file") {
  CollectorOptions options = patient();
  options.store_bytes = 16 << 20;  // 128 KiB in a day
  Machine machine(options);
  FakeProcess process = mapper(10, {});
  std::size_t told = 0;
  std::int64_t seen_kib = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<Region> regions;
    for (int i = 0; i < 20; ++i)
      regions.push_back({"/" + std::string(1'000, 'x') + std::to_string(round * 100 + i), 4});
    process.smaps = smaps_of(regions);
    round == 0 ? machine.proc.add(process) : machine.proc.update(process);
    const Tick tick = ask(machine);
    const ProcessLedger* const ledger = ledger_of(tick, 10);
    REQUIRE(ledger != nullptr);
    for (const MappingRow& row : ledger->ledger.rows) told += row.name.label.size();
    for (const MappingRow& row : ledger->ledger.rows) seen_kib += row.use.pss_kib();
    for (const MappingUse& others : ledger->ledger.others) seen_kib += others.pss_kib();
  }
  CHECK(told <= 128 * 1024);
  CHECK(told > 100 * 1024);
  CHECK(seen_kib == 20 * 20 * 4);
}

TEST_CASE("ledgers: gone, torn and empty yield none; the tick goes on") {
  Machine machine(patient());
  FakeProcess torn = mapper(10, {{"[heap]", 50}});
  torn.smaps->resize(torn.smaps->size() - 3);
  FakeProcess empty = mapper(11, {});
  FakeProcess junk = mapper(12, {});
  junk.smaps = "10000-20000 rw-p 00000000 00:00 0\nRss: much\n";
  machine.proc.add(torn);
  machine.proc.add(empty);
  machine.proc.add(junk);
  machine.proc.add(fake(13, "nosmaps"));
  machine.proc.add(mapper(14, {{"[heap]", 50}}, 1));
  const Tick tick = ask(machine);
  CHECK(tick.ledgers.size() == 1);
  CHECK(ledger_of(tick, 14) != nullptr);
  CHECK(tick.counts.malformed == 2);
  CHECK(tick.processes.size() == 5);
}

TEST_CASE("ledgers: denied is told as such") {
  Machine machine(patient());
  machine.proc.add(mapper(10, {{"[heap]", 50}}));
  machine.proc.deny(10, PidFile::smaps);
  const AsOrdinaryUser user;
  const Tick tick = machine.tick();
  REQUIRE(ledger_of(tick, 10) != nullptr);
  CHECK(ledger_of(tick, 10)->state == LedgerState::inaccessible);
  CHECK(ledger_of(tick, 10)->ledger.rows.empty());
  CHECK_FALSE(ledger_of(tick, 10)->read_ms);
}

TEST_CASE("ledgers: 65,000 regions of long names") {
  std::vector<Region> regions;
  const std::size_t count = kSanitized ? 6'500 : 65'000;
  regions.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    regions.push_back({"/" + std::string(2'800, 'n') + std::to_string(i % 100), 4});
  Machine machine(patient());
  machine.proc.add(mapper(10, regions));
  const Tick tick = machine.tick();
  const ProcessLedger* const ledger = ledger_of(tick, 10);
  REQUIRE(ledger != nullptr);
  CHECK(ledger->regions == static_cast<std::int64_t>(count));
  CHECK(ledger->ledger.rows.size() == LedgerLimits().labels);
  std::int64_t kib = 0;
  for (const MappingRow& row : ledger->ledger.rows) kib += row.use.pss_kib();
  for (const MappingUse& others : ledger->ledger.others) kib += others.pss_kib();
  CHECK(kib == static_cast<std::int64_t>(count) * 4);
}

TEST_CASE("ledgers: who is gone by the time it is read has none, nor has another who has its pid") {
  Machine machine(patient());
  for (std::int32_t pid = 10; pid < 14; ++pid) machine.proc.add(mapper(pid, {{"[heap]", 40}}, 100'000 - pid * 1000));
  // Where the worker waits, in the order of reading: at the first one it is past all else of the tick.
  machine.proc.block(10, PidFile::smaps);
  machine.proc.block(11, PidFile::smaps);
  const auto let_go = [&](std::int32_t pid) {
    while (!machine.proc.unblock(pid, PidFile::smaps)) std::this_thread::yield();
  };
  std::thread meanwhile([&] {
    let_go(10);
    machine.proc.remove(12);
    FakeProcess other = mapper(13, {{"[heap]", 30}});
    other.start_ticks += 1'000'000;
    machine.proc.update(other);
    let_go(11);
  });
  const Tick tick = ask(machine);
  meanwhile.join();
  CHECK(ledger_of(tick, 12) == nullptr);
  CHECK(ledger_of(tick, 13) == nullptr);
}

TEST_CASE("ledgers: of a process that ends or runs another program while it is read there is all or nothing") {
  constexpr int regions = 2'000;
  const auto child = [](bool exec, int ready) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    char* const at = static_cast<char*>(
        ::mmap(nullptr, regions * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (std::size_t i = 0; i < regions; i += 2) ::mprotect(at + i * page, page, PROT_READ | PROT_WRITE);
    if (::write(ready, "x", 1) != 1) ::_exit(1);
    ::usleep(static_cast<useconds_t>(::getpid() * 7'919 % 120'000));
    if (exec) ::execl("/bin/sleep", "sleep", "60", nullptr);
    ::_exit(0);
  };
  int whole = 0;
  // On a busy machine the first of them may all have ended before they were read.
  for (int round = 0; round < 24 || (whole == 0 && round < 400); ++round) {
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) child(round % 2 == 0, ready[1]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    Buffer buffer;
    DescriptorBudget none(0);
    Entries entries;
    entries.push_back(std::make_unique<ProcessEntry>(pid, *read_start_ticks(ProcFs(), pid, buffer), none));
    entries[0]->sample.key = {pid, entries[0]->start_ticks, 0};
    entries[0]->sample.memory.set(F::vm_size, 1);
    LedgerReader reader(std::make_shared<const ProcFs>(), {}, 10s);
    NameBudget names(0);
    Tick tick;
    Pass pass{.tick = tick, .buffer = buffer};
    reader.read(entries, LedgerAsk::planned, nullptr, names, pass);
    if (!tick.ledgers.empty() && tick.ledgers[0].regions >= regions) ++whole;
    // After an exec it may be that of the other program, read whole.
    if (!tick.ledgers.empty() && round % 2 != 0) CHECK(tick.ledgers[0].regions >= regions);
    if (!tick.ledgers.empty() && round % 2 == 0)
      CHECK((tick.ledgers[0].regions >= regions || tick.ledgers[0].regions < 100));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  CHECK(whole > 0);
}

TEST_CASE("ledgers: one that does not answer is put off, and taken when it is back") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = 50ms;
  Machine machine(options);
  machine.proc.add(mapper(10, {{"[heap]", 50}}, 2000));
  machine.proc.add(mapper(11, {{"[heap]", 40}}));
  machine.proc.block(10, PidFile::smaps);
  const Tick tick = machine.tick();
  REQUIRE(ledger_of(tick, 10) != nullptr);
  CHECK(ledger_of(tick, 10)->state == LedgerState::deferred);
  CHECK(ledger_of(tick, 11)->state == LedgerState::exact);
  CHECK(machine.tick().ledgers.empty());
  while (!machine.proc.unblock(10, PidFile::smaps)) std::this_thread::yield();
  machine.proc.write(10, PidFile::smaps, smaps_of({{"[heap]", 50}}));
  machine.clock.advance(900'000);
  Tick later = machine.tick();
  const auto enough = std::chrono::steady_clock::now() + 60s;
  while (ledger_of(later, 10) == nullptr && std::chrono::steady_clock::now() < enough) later = ask(machine);
  REQUIRE(ledger_of(later, 10) != nullptr);
  CHECK(ledger_of(later, 10)->state == LedgerState::exact);
}

TEST_CASE("ledgers: each process's share of the swap of shared mappings") {
  Machine machine(patient());
  machine.collector->set_ledgers({.interval_ms = 900'000, .processes = 1});
  const auto swapper = [](std::int32_t pid, std::int64_t swap_kib, std::int64_t swap_pss_kib) {
    FakeProcess process = mapper(pid, {{"/dev/shm/a", 4, swap_kib, "rw-s"}, {"[heap]", 4, 7}});
    process.memory.set(F::swap, swap_kib + 7);
    process.memory.set(F::swap_pss, swap_pss_kib);
    return process;
  };
  for (std::int32_t pid = 10; pid < 14; ++pid) machine.proc.add(swapper(pid, 100, 7));
  machine.proc.add(swapper(20, 100, 107));  // shares nothing
  for (int i = 0; i < 5; ++i) CHECK_FALSE(sample_of(machine.tick(), 10).memory.has(F::shared_swap));

  // It swaps.
  machine.proc.write(SystemFile::meminfo,
                     "MemTotal: 8388608 kB\nMemAvailable: 4 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n");
  Tick tick = machine.tick();
  for (int i = 0; i < 5; ++i) tick = machine.tick();
  for (std::int32_t pid = 10; pid < 14; ++pid) CHECK(sample_of(tick, pid).memory.get(F::shared_swap) == 25);
  CHECK_FALSE(sample_of(tick, 20).memory.has(F::shared_swap));
  std::int64_t total = 0;
  for (const CategorySample& category : tick.categories) total += category.shared_swap_kib;
  CHECK(total == 100);
  CHECK(tick.ledgers.empty());

  machine.proc.update(swapper(10, 0, 7));  // it came back into memory
  CHECK_FALSE(sample_of(machine.tick(), 10).memory.has(F::shared_swap));
  machine.proc.write(SystemFile::meminfo,
                     "MemTotal: 8388608 kB\nMemAvailable: 4 kB\nSwapTotal: 100 kB\nSwapFree: 100 kB\n");
  CHECK_FALSE(sample_of(machine.tick(), 11).memory.has(F::shared_swap));
}
