// Processes with shared memory that others map and release: their samples between two readings.

#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "collect/collector_fixture.h"
#include "support/sanitized.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

namespace {

constexpr std::int64_t kUnreadableKib = 6'000;

// Processes that map one tmpfs file and touch all of it.
class SharingMachine {
 public:
  explicit SharingMachine(std::int64_t file_kib, std::int64_t read_share_ppm = 5'000)
      : file_kib_(file_kib), machine_(options(read_share_ppm)) {}

  void start(std::int32_t pid, std::string comm, bool maps, std::int32_t parent_pid = 1) {
    processes_[pid] = fake(pid, std::move(comm));
    processes_[pid].parent_pid = parent_pid;
    if (maps) mappers_.insert(pid);
    write(pid, [&] { machine_.proc.add(processes_[pid]); });
    write_others(pid);
  }

  // Starts processes that map the file.
  void start_all(std::int32_t first_pid, std::int32_t end_pid, const std::string& comm, std::int32_t parent_pid) {
    for (std::int32_t pid = first_pid; pid < end_pid; ++pid) {
      processes_[pid] = fake(pid, comm);
      processes_[pid].parent_pid = parent_pid;
      mappers_.insert(pid);
    }
    for (std::int32_t pid = first_pid; pid < end_pid; ++pid) {
      write(pid, [&] { machine_.proc.add(processes_[pid]); });
    }
    write_meminfo();
  }

  void exit(std::int32_t pid) {
    machine_.proc.remove(pid);
    processes_.erase(pid);
    mappers_.erase(pid);
    write_others(pid);
  }

  Tick tick() {
    Tick tick = machine_.tick();
    machine_.clock.advance(9'000);
    return tick;
  }

  std::int64_t true_pss_kib(std::int32_t pid) const {
    return 1'000 + (mappers_.contains(pid) ? file_kib_ / static_cast<std::int64_t>(mappers_.size()) : 0);
  }
  const std::set<std::int32_t>& mappers() const { return mappers_; }
  FakeProc& proc() { return machine_.proc; }

 private:
  static CollectorOptions options(std::int64_t read_share_ppm) {
    CollectorOptions options = many_descriptors();
    options.read_share_ppm = read_share_ppm;
    return options;
  }

  template <typename Write>
  void write(std::int32_t pid, Write write) {
    ProcessMemory& memory = processes_.at(pid).memory;
    memory = memory_of(1'000);
    const bool is_mapper = mappers_.contains(pid);
    if (is_mapper) {
      const auto count = static_cast<std::int64_t>(mappers_.size());
      const auto add = [&memory](F field, std::int64_t kib) { memory.set(field, memory.or_zero(field) + kib); };
      for (const F field : {F::rss, F::vm_rss, F::vm_hwm, F::vm_size, F::vm_peak, F::rss_shmem}) add(field, file_kib_);
      for (const F field : {F::pss, F::pss_shmem, F::pss_dirty}) add(field, file_kib_ / count);
      add(count == 1 ? F::private_dirty : F::shared_dirty, file_kib_);
    }
    write();
  }

  void write_others(std::int32_t changed) {
    for (const std::int32_t pid : mappers_) {
      if (pid != changed) write(pid, [&] { machine_.proc.update(processes_.at(pid)); });
    }
    write_meminfo();
  }

  void write_meminfo() {
    const std::int64_t mapped_kib = kUnreadableKib + (mappers_.empty() ? 0 : file_kib_);
    machine_.proc.write(SystemFile::meminfo,
                        "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\nSwapTotal: 0 kB\n"
                        "SwapFree: 0 kB\nMapped: " +
                            std::to_string(mapped_kib) + " kB\n");
  }

  const std::int64_t file_kib_;
  Machine machine_;
  std::map<std::int32_t, FakeProcess> processes_;
  std::set<std::int32_t> mappers_;
};

void check_right(const SharingMachine& machine, const Tick& tick, std::int32_t pid,
                 std::int64_t part = kSanitized ? 25 : 100) {
  const ProcessSample sample = sample_of(tick, pid);
  const std::int64_t right_kib = machine.true_pss_kib(pid);
  INFO(pid << ' ' << to_string(sample.source) << ' ' << sample.memory.or_zero(F::pss) << " of " << right_kib);
  CHECK(std::abs(sample.memory.or_zero(F::pss) - right_kib) <= right_kib / part);
}

bool in_order(const ProcessMemory& memory) {
  return uss_kib(memory) <= memory.get(F::pss) && memory.get(F::pss) <= rss_kib(memory);
}

}  // namespace

TEST_CASE("shared memory: PSS and USS are right soon after another process maps the same file, and after it exits") {
  SharingMachine machine(153'600);
  machine.start(10, "first", true);
  machine.start(11, "idle", false);
  machine.tick();
  for (int i = 0; i < 3; ++i) CHECK(sample_of(machine.tick(), 10).source == Source::held);

  machine.start(20, "second", true);
  const Tick noticed = machine.tick();
  CHECK(sample_of(noticed, 10).source == Source::estimated);
  CHECK(sample_of(noticed, 11).source == Source::held);
  // Process 10 has not been read again yet. Its share is known because the machine's mapped memory is unchanged.
  check_right(machine, noticed, 10);
  CHECK(uss_kib(sample_of(noticed, 10).memory) == 1'000);
  const Tick shared = machine.tick();
  check_right(machine, shared, 10);
  check_right(machine, shared, 20);
  CHECK(uss_kib(sample_of(shared, 10).memory) == 1'000);
  CHECK(sample_of(machine.tick(), 10).source == Source::held);

  machine.exit(20);
  machine.tick();
  const Tick alone = machine.tick();
  check_right(machine, alone, 10);
  CHECK(uss_kib(sample_of(alone, 10).memory) == 154'600);
  CHECK(sample_of(machine.tick(), 10).source == Source::held);
}

TEST_CASE("shared memory: one of 100 processes that share 1 GiB starts or exits at each tick") {
  const std::int32_t parent = GENERATE(1, 5);  // children of pid 5 form a pool
  const bool starts = GENERATE(true, false);
  SharingMachine machine(1'048'576, 500);
  if (parent != 1) machine.start(parent, "server", false);
  machine.start_all(100, 200, "worker", parent);
  for (int i = 0; i < 4; ++i) machine.tick();
  for (std::int32_t i = 0; i < 6; ++i) {
    if (starts) {
      machine.start(200 + i, "worker", true, parent);
    } else {
      machine.exit(100 + i);
    }
    const Tick tick = machine.tick();
    std::int64_t all_kib = 0;
    for (const std::int32_t pid : machine.mappers()) {
      const ProcessSample sample = sample_of(tick, pid);
      all_kib += sample.memory.or_zero(F::pss);
      CHECK(in_order(sample.memory));
      if (i > 1) check_right(machine, tick, pid);
    }
    const auto right_kib = static_cast<std::int64_t>(machine.mappers().size()) * 1'000 + 1'048'576;
    INFO(i << ": " << all_kib << " of " << right_kib);
    CHECK(std::abs(all_kib - right_kib) <= right_kib / 100);
  }
}

TEST_CASE("shared memory: an unexplained change does not cause endless reads") {
  SharingMachine machine(153'600);
  machine.start(10, "first", true);
  machine.tick();
  machine.proc().write(SystemFile::meminfo, "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\nMapped: 400000 kB\n");
  for (int i = 0; i < 2; ++i) machine.tick();
  for (int i = 0; i < 3; ++i) CHECK(sample_of(machine.tick(), 10).source == Source::held);
}
