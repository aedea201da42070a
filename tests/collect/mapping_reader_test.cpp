// Mapping summaries in the ticks of a collector on a fake machine.

#include "collect/mappings/mapping_reader.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "collect/collector_fixture.h"
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

const ProcessMappings* summary_of(const Tick& tick, std::int32_t pid) {
  for (const ProcessMappings& summary : tick.summaries) {
    if (summary.process.pid == pid) return &summary;
  }
  return nullptr;
}

// Changes counters in the process's status.
void touch(Machine& machine, FakeProcess process, std::int64_t more_kib = 4) {
  process.memory = memory_of(process.memory.or_zero(F::rss_anon) + more_kib, 200);
  machine.proc.update(process);
}

Tick ask(Machine& machine, MappingRequest which = MappingRequest::planned) {
  machine.collector->request_summaries(which);
  return machine.tick();
}

CollectorOptions patient() {
  CollectorOptions options = many_descriptors();
  options.read_deadline = 60s;
  return options;
}

}  // namespace

TEST_CASE("mappings: a tick has the summaries that are due, by kind and label, with their cost") {
  Machine machine(patient());
  machine.proc.write(SystemFile::mountinfo, "24 25 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=24684096k\n");
  machine.proc.add(mapper(10, {{"/dev/shm/a b", 100, 0, "rw-s", "00:17"},
                               {"[heap]", 50},
                               {"[heap]", 30},
                               {"/memfd:x (deleted)", 20, 0, "rw-s"},
                               {"", 10}}));
  const Tick tick = machine.tick();
  const ProcessMappings* const summary = summary_of(tick, 10);
  REQUIRE(summary != nullptr);
  CHECK(summary->state == MappingState::exact);
  CHECK(summary->regions == 5);
  CHECK(summary->cpu_us >= 0);
  CHECK(summary->wall_us >= 0);
  CHECK(summary->process == sample_of(tick, 10).key);
  REQUIRE(summary->read_ms);
  CHECK(std::abs(*summary->read_ms - tick.begin.wall_ms) < 60'000);
  const auto& rows = summary->summary.rows;
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == MappingName{K::tmpfs, "/dev/shm/a b"});
  CHECK(rows[0].use.shared_regions == 1);
  CHECK(rows[1].name == MappingName{K::heap, "[heap]"});
  CHECK(rows[1].use.regions == 2);
  CHECK(rows[1].use.pss_kib() == 80);
  CHECK(rows[2].name == MappingName{K::memfd, "/memfd:x (deleted)"});
  CHECK(rows[3].name == MappingName{K::anonymous, ""});
  CHECK(machine.tick().summaries.empty());
}

TEST_CASE("mappings: a tmpfs in another mount namespace is recognised") {
  namespace fs = std::filesystem;
  Machine machine(patient());
  machine.proc.write(SystemFile::mountinfo, "24 25 0:23 / /dev/shm rw - tmpfs tmpfs rw\n");
  for (const std::int32_t pid : {10, 11}) machine.proc.add(mapper(pid, {{"/dev/shm/x", 100, 0, "rw-s", "00:63"}}));
  const auto set_namespace = [&](const std::string& folder, const std::string& name) {
    fs::create_directories(machine.proc.root() + folder + "/ns");
    fs::create_symlink(name, machine.proc.root() + folder + "/ns/mnt");
  };
  set_namespace("/self", "mnt:[1]");
  set_namespace("/10", "mnt:[2]");
  set_namespace("/11", "mnt:[1]");
  for (const char* folder : {"/10", "/11"})
    std::ofstream(machine.proc.root() + folder + "/mountinfo") << "9 8 0:99 / /dev/shm rw - tmpfs shm rw\n";
  const Tick tick = machine.tick();
  for (const auto& [pid, kind] : {std::pair(10, K::tmpfs), std::pair(11, K::file)}) {
    const ProcessMappings* const summary = summary_of(tick, pid);
    REQUIRE(summary != nullptr);
    CHECK(summary->summary.rows.at(0).name.kind == kind);
  }
}

TEST_CASE("mappings: shared memory has its allocated size if its links may be followed") {
  namespace fs = std::filesystem;
  Machine machine(patient());
  machine.proc.add(mapper(10, {{"/memfd:x (deleted)", 20, 0, "rw-s"}, {"/memfd:x (deleted)", 4, 0, "rw-s"}, {"", 64}}));
  machine.proc.add(mapper(11, {{"/memfd:x (deleted)", 20, 0, "rw-s"}}));
  const std::string folder = machine.proc.root() + "/10/map_files/";
  fs::create_directories(folder);
  for (const char* const region : {"10000-15000", "15000-16000", "16000-26000"})
    std::ofstream(folder + region) << std::string(300'000, 'x');
  struct stat status {};
  REQUIRE(::stat((folder + "10000-15000").c_str(), &status) == 0);
  const Tick tick = machine.tick();
  const auto& rows = summary_of(tick, 10)->summary.rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].use.object_kib == std::nullopt);
  CHECK(rows[1].name.kind == K::memfd);
  CHECK(rows[1].use.object_kib == status.st_blocks / 2);
  CHECK(summary_of(tick, 11)->summary.rows.at(0).use.object_kib == std::nullopt);
}

TEST_CASE("mappings: a changed process is read again after the interval, and on demand") {
  Machine machine(patient());
  const FakeProcess process = mapper(10, {{"[heap]", 50}});
  machine.proc.add(process);
  CHECK(machine.tick().summaries.size() == 1);
  machine.clock.advance(900'000);
  CHECK(machine.tick().summaries.empty());
  touch(machine, process);
  CHECK(machine.tick().summaries.size() == 1);
  touch(machine, process, 8);
  CHECK(machine.tick().summaries.empty());
  CHECK(ask(machine).summaries.size() == 1);
}

TEST_CASE("mappings: nothing is read if switched off") {
  CollectorOptions options = many_descriptors();
  options.summaries.interval_ms = 0;
  Machine machine(options);
  machine.proc.add(mapper(10, {{"[heap]", 50}}));
  CHECK(machine.tick().summaries.empty());
  CHECK(ask(machine).summaries.empty());
  machine.collector->set_summaries({});
  CHECK(machine.tick().summaries.size() == 1);
}

TEST_CASE("mappings: labels beyond the largest are summed by kind, and names are converted to UTF-8") {
  CollectorOptions options = patient();
  options.summaries.labels = 2;
  Machine machine(options);
  machine.proc.add(mapper(10, {{"/\xff/a", 40}, {"/b", 30}, {"/c", 20}, {"[heap]", 10}, {"/\xff/a", 5}}));
  const Tick tick = machine.tick();
  const ProcessMappings* const summary = summary_of(tick, 10);
  REQUIRE(summary != nullptr);
  REQUIRE(summary->summary.rows.size() == 2);
  CHECK(summary->summary.rows[0].name.label == "/\\xff/a");
  CHECK(summary->summary.rows[0].use.pss_kib() == 45);
  CHECK(summary->summary.others[static_cast<std::size_t>(K::file)].pss_kib() == 20);
  CHECK(summary->summary.others[static_cast<std::size_t>(K::heap)].pss_kib() == 10);
}

TEST_CASE("mappings: endless new labels of one user fill a small part of the file") {
  CollectorOptions options = patient();
  options.store_bytes = 16 << 20;  // 128 KiB in a day
  Machine machine(options);
  FakeProcess process = mapper(10, {});
  std::size_t label_bytes = 0;
  std::int64_t seen_kib = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<Region> regions;
    for (int i = 0; i < 20; ++i)
      regions.push_back({"/" + std::string(1'000, 'x') + std::to_string(round * 100 + i), 4});
    process.smaps = smaps_of(regions);
    round == 0 ? machine.proc.add(process) : machine.proc.update(process);
    const Tick tick = ask(machine);
    const ProcessMappings* const summary = summary_of(tick, 10);
    REQUIRE(summary != nullptr);
    for (const MappingRow& row : summary->summary.rows) label_bytes += row.name.label.size();
    for (const MappingRow& row : summary->summary.rows) seen_kib += row.use.pss_kib();
    for (const MappingUse& others : summary->summary.others) seen_kib += others.pss_kib();
  }
  CHECK(label_bytes <= 128 * 1024);
  CHECK(label_bytes > 100 * 1024);
  CHECK(seen_kib == 20 * 20 * 4);
}

TEST_CASE("mappings: exited processes and truncated or empty files yield no summary, and the tick continues") {
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
  CHECK(tick.summaries.size() == 1);
  CHECK(summary_of(tick, 14) != nullptr);
  CHECK(tick.counts.malformed == 3);
  CHECK(tick.processes.size() == 5);
}

TEST_CASE("mappings: a denied read is reported as such") {
  Machine machine(patient());
  machine.proc.add(mapper(10, {{"[heap]", 50}}));
  machine.proc.deny(10, PidFile::smaps);
  const AsOrdinaryUser user;
  const Tick tick = machine.tick();
  REQUIRE(summary_of(tick, 10) != nullptr);
  CHECK(summary_of(tick, 10)->state == MappingState::inaccessible);
  CHECK(summary_of(tick, 10)->summary.rows.empty());
  CHECK_FALSE(summary_of(tick, 10)->read_ms);
}

TEST_CASE("mappings: 65,000 regions with long names are read") {
  std::vector<Region> regions;
  const std::size_t count = kSanitized ? 2'000 : 65'000;
  regions.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    regions.push_back({"/" + std::string(2'800, 'n') + std::to_string(i % 100), 4});
  Machine machine(patient());
  machine.proc.add(mapper(10, regions));
  const Tick tick = machine.tick();
  const ProcessMappings* const summary = summary_of(tick, 10);
  REQUIRE(summary != nullptr);
  CHECK(summary->regions == static_cast<std::int64_t>(count));
  CHECK(summary->summary.rows.size() == MappingLimits().labels);
  std::int64_t kib = 0;
  for (const MappingRow& row : summary->summary.rows) kib += row.use.pss_kib();
  for (const MappingUse& others : summary->summary.others) kib += others.pss_kib();
  CHECK(kib == static_cast<std::int64_t>(count) * 4);
}

TEST_CASE("mappings: a process that exits before its read has no summary, nor does a process that reuses its pid") {
  Machine machine(patient());
  for (std::int32_t pid = 10; pid < 14; ++pid) machine.proc.add(mapper(pid, {{"[heap]", 40}}, 100'000 - pid * 1000));
  // The worker reads in the order of the pids, and waits at these two files. When it waits at the first, all other work
  // of the tick is done.
  machine.proc.block(10, PidFile::smaps);
  machine.proc.block(11, PidFile::smaps);
  const auto let_go = [&](std::int32_t pid) {
    while (!machine.proc.unblock(pid, PidFile::smaps)) std::this_thread::yield();
  };
  std::thread changes([&] {
    let_go(10);
    machine.proc.remove(12);
    FakeProcess other = mapper(13, {{"[heap]", 30}});
    other.start_ticks += 1'000'000;
    machine.proc.update(other);
    let_go(11);
  });
  const Tick tick = ask(machine);
  changes.join();
  CHECK(summary_of(tick, 12) == nullptr);
  CHECK(summary_of(tick, 13) == nullptr);
}

TEST_CASE("mappings: a summary read during an exit or exec is complete or absent") {
  constexpr int regions = 2'000;
  const auto child = [](bool waits, bool exec, int ready) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    char* const at = static_cast<char*>(
        ::mmap(nullptr, regions * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (std::size_t i = 0; i < regions; i += 2) ::mprotect(at + i * page, page, PROT_READ | PROT_WRITE);
    if (::write(ready, "x", 1) != 1) ::_exit(1);
    while (waits) ::pause();
    ::usleep(static_cast<useconds_t>(::getpid() * 7'919 % 120'000));
    if (exec) ::execl("/bin/sleep", "sleep", "60", nullptr);
    ::_exit(0);
  };
  int whole = 0;
  for (int round = 0; round < 25; ++round) {
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) child(round == 0, round % 2 == 0, ready[1]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    Buffer buffer;
    DescriptorBudget none(0);
    Entries entries;
    entries.push_back(std::make_unique<ProcessEntry>(pid, *read_start_ticks(ProcFs(), pid, buffer), none));
    entries[0]->sample.key = {pid, entries[0]->start_ticks, 0};
    entries[0]->sample.memory.set(F::vm_size, 1);
    MappingReader reader(std::make_shared<const ProcFs>(), {}, 10s);
    NameBudget names(0);
    Tick tick;
    CollectContext context{.tick = tick, .buffer = buffer};
    reader.read(entries, MappingRequest::planned, nullptr, names, context);
    if (!tick.summaries.empty() && tick.summaries[0].regions >= regions) ++whole;
    // After an exec the summary may be that of the new program, if it is complete.
    if (!tick.summaries.empty() && round % 2 != 0) CHECK(tick.summaries[0].regions >= regions);
    if (!tick.summaries.empty() && round % 2 == 0)
      CHECK((tick.summaries[0].regions >= regions || tick.summaries[0].regions < 100));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  CHECK(whole > 0);
}

TEST_CASE("mappings: a hanging read is deferred and taken once it returns") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = 50ms;
  Machine machine(options);
  machine.proc.add(mapper(10, {{"[heap]", 50}}, 2000));
  machine.proc.add(mapper(11, {{"[heap]", 40}}));
  machine.proc.block(10, PidFile::smaps);
  const Tick tick = machine.tick();
  REQUIRE(summary_of(tick, 10) != nullptr);
  CHECK(summary_of(tick, 10)->state == MappingState::deferred);
  CHECK(summary_of(tick, 11)->state == MappingState::exact);
  CHECK(machine.tick().summaries.empty());
  while (!machine.proc.unblock(10, PidFile::smaps)) std::this_thread::yield();
  machine.proc.write(10, PidFile::smaps, smaps_of({{"[heap]", 50}}));
  machine.clock.advance(900'000);
  Tick later = machine.tick();
  const auto enough = std::chrono::steady_clock::now() + 60s;
  while (summary_of(later, 10) == nullptr && std::chrono::steady_clock::now() < enough) later = ask(machine);
  REQUIRE(summary_of(later, 10) != nullptr);
  CHECK(summary_of(later, 10)->state == MappingState::exact);
}

TEST_CASE("mappings: each process's share of the swap of shared mappings") {
  Machine machine(patient());
  machine.collector->set_summaries({.interval_ms = 900'000, .processes = 1});
  const auto swapper = [](std::int32_t pid, std::int64_t swap_kib, std::int64_t swap_pss_kib) {
    FakeProcess process = mapper(pid, {{"/dev/shm/a", 4, swap_kib, "rw-s"}, {"[heap]", 4, 7}});
    process.memory.set(F::swap, swap_kib + 7);
    process.memory.set(F::swap_pss, swap_pss_kib);
    return process;
  };
  for (std::int32_t pid = 10; pid < 14; ++pid) machine.proc.add(swapper(pid, 100, 7));
  machine.proc.add(swapper(20, 100, 107));  // has no shared memory
  for (int i = 0; i < 5; ++i) CHECK(sample_of(machine.tick(), 10).memory.get(F::shared_swap) == 0);

  // The machine swaps from now on.
  machine.proc.write(SystemFile::meminfo,
                     "MemTotal: 8388608 kB\nMemAvailable: 4 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n");
  Tick tick = machine.tick();
  CHECK_FALSE(sample_of(tick, 10).memory.has(F::shared_swap));  // some sharers are not read yet
  for (int i = 0; i < 5; ++i) tick = machine.tick();
  for (std::int32_t pid = 10; pid < 14; ++pid) CHECK(sample_of(tick, pid).memory.get(F::shared_swap) == 25);
  CHECK(sample_of(tick, 20).memory.get(F::shared_swap) == 0);
  std::int64_t total = 0;
  for (const CategorySample& category : tick.categories) total += category.shared_swap_kib;
  CHECK(total == 100);
  CHECK(tick.summaries.empty());

  machine.proc.update(swapper(10, 0, 7));  // its memory is swapped in again
  CHECK(sample_of(machine.tick(), 10).memory.get(F::shared_swap) == 0);
  CHECK(sample_of(machine.tick(), 11).memory.get(F::shared_swap) == 33);
  // One tick on demand reads all processes.
  machine.proc.update(swapper(10, 100, 7));
  machine.proc.add(swapper(14, 100, 7));
  machine.collector->request_all();
  const Tick all = machine.tick();
  for (std::int32_t pid = 10; pid < 15; ++pid) CHECK(sample_of(all, pid).memory.get(F::shared_swap) == 20);
  machine.proc.write(SystemFile::meminfo,
                     "MemTotal: 8388608 kB\nMemAvailable: 4 kB\nSwapTotal: 100 kB\nSwapFree: 100 kB\n");
  CHECK(sample_of(machine.tick(), 11).memory.get(F::shared_swap) == 0);
}
